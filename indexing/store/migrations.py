"""The history of the database's schema: numbered steps, never edited.

Step n brings a database of format n to format n + 1. A new step goes at the end.
"""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        "INSERT INTO meta VALUES ('generation', '0')",
        "CREATE TABLE documents ("
        " row INTEGER PRIMARY KEY AUTOINCREMENT,"
        " id TEXT NOT NULL UNIQUE,"
        " path TEXT NOT NULL,"
        " part TEXT NOT NULL,"
        " title TEXT NOT NULL,"
        " format TEXT NOT NULL,"
        " digest TEXT NOT NULL,"
        " text TEXT NOT NULL,"
        " turns TEXT NOT NULL,"  # JSON [[start, end, said, speaker, time]]
        " pages TEXT NOT NULL,"  # JSON [[start, end, number]], then a name if it has one
        " breaks TEXT NOT NULL,"  # JSON [offset]
        " words INTEGER NOT NULL,"
        " tokens INTEGER NOT NULL,"
        " vector BLOB NOT NULL,"  # (d,) little-endian float32
        " added TEXT NOT NULL)",
        "CREATE INDEX documents_by_path ON documents (path)",
        "CREATE INDEX documents_by_digest ON documents (digest)",
        "CREATE TABLE passages ("
        " row INTEGER PRIMARY KEY AUTOINCREMENT,"
        " document INTEGER NOT NULL REFERENCES documents (row) ON DELETE CASCADE,"
        ' start INTEGER NOT NULL, "end" INTEGER NOT NULL,'
        " speakers TEXT NOT NULL,"  # JSON [name], most words first
        " time REAL, page INTEGER)",
        "CREATE INDEX passages_by_document ON passages (document, start)",
        "CREATE TABLE passage_vectors ("
        " document INTEGER PRIMARY KEY REFERENCES documents (row) ON DELETE CASCADE,"
        " vectors BLOB NOT NULL)",  # (passages, d) little-endian float32
        "CREATE TABLE files ("
        " path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL)",
        "CREATE TABLE reencoded ("  # vectors of another fingerprint, until all have them
        " document INTEGER PRIMARY KEY REFERENCES documents (row) ON DELETE CASCADE,"
        " recipe TEXT NOT NULL, vector BLOB NOT NULL, vectors BLOB NOT NULL)",
    ),
    ("INSERT INTO meta VALUES ('stamp', lower(hex(randomblob(8))))",),
    # JSON that whoever handed a document in keeps with it; empty for files
    ("ALTER TABLE documents ADD COLUMN metadata TEXT NOT NULL DEFAULT ''",),
    # checksums, by the function of `checksums.py`, of each document's record, passages and vectors
    (
        "CREATE TABLE checksums ("
        " document INTEGER PRIMARY KEY REFERENCES documents (row) ON DELETE CASCADE,"
        " record INTEGER NOT NULL, passages INTEGER NOT NULL, vectors INTEGER NOT NULL)",
        "CREATE VIEW current_checksums AS SELECT documents.row AS document,"
        " checksum(documents.row, CAST(id AS BLOB), CAST(path AS BLOB), CAST(part AS BLOB),"
        " CAST(title AS BLOB), CAST(format AS BLOB), CAST(digest AS BLOB), CAST(text AS BLOB),"
        " CAST(turns AS BLOB), CAST(pages AS BLOB), CAST(breaks AS BLOB), CAST(metadata AS BLOB),"
        " words, tokens, CAST(added AS BLOB)) AS record,"
        ' (SELECT coalesce(sum(checksum(passages.row, start, "end", CAST(speakers AS BLOB),'
        " time, page)), 0) FROM passages WHERE passages.document = documents.row) AS passages,"
        " checksum(documents.row, vector, (SELECT vectors FROM passage_vectors"
        " WHERE passage_vectors.document = documents.row)) AS vectors"
        " FROM documents",
        "INSERT INTO checksums SELECT * FROM current_checksums",
        "ALTER TABLE reencoded ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",
        "UPDATE reencoded SET checksum = checksum(document, CAST(recipe AS BLOB), vector, vectors)",
        "INSERT INTO meta SELECT 'recipe_checksum', checksum(CAST(value AS BLOB)) FROM meta"
        " WHERE key = 'recipe'",
    ),
    # collections, and the place of each document in each: what was there belongs to everybody's
    (
        "CREATE TABLE collections ("
        " row INTEGER PRIMARY KEY AUTOINCREMENT,"
        " name TEXT NOT NULL UNIQUE,"
        " owner TEXT,"  # login name; NULL for everybody
        " shared INTEGER NOT NULL,"
        " checksum INTEGER NOT NULL)",
        "INSERT INTO collections"
        " VALUES (1, 'default', NULL, 0, checksum(1, CAST('default' AS BLOB), NULL, 0))",
        "CREATE TABLE memberships ("
        " document INTEGER NOT NULL REFERENCES documents (row) ON DELETE CASCADE,"
        " collection INTEGER NOT NULL REFERENCES collections (row) ON DELETE CASCADE,"
        " path TEXT NOT NULL, part TEXT NOT NULL, title TEXT NOT NULL,"
        " checksum INTEGER NOT NULL,"
        " PRIMARY KEY (document, collection)) WITHOUT ROWID",
        "CREATE INDEX memberships_by_collection ON memberships (collection)",
        "INSERT INTO memberships SELECT row, 1, path, part, title,"
        " checksum(row, 1, CAST(path AS BLOB), CAST(part AS BLOB), CAST(title AS BLOB))"
        " FROM documents",
        "CREATE TABLE file_states ("
        " collection INTEGER NOT NULL REFERENCES collections (row) ON DELETE CASCADE,"
        " path TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,"
        " PRIMARY KEY (collection, path)) WITHOUT ROWID",
        "INSERT INTO file_states SELECT 1, path, size, mtime_ns FROM files",
        "DROP TABLE files",
        "INSERT INTO meta VALUES ('collections', '0')",
    ),
    # what is kept of a document beside its text, such as its date; files are read again by the next
    # run of `index`, as only they say what that is
    (
        "CREATE TABLE facts ("
        "document INTEGER REFERENCES documents (row) ON DELETE CASCADE,"
        " name TEXT,"
        " value TEXT NOT NULL,"  # JSON
        " checksum INTEGER NOT NULL,"
        " PRIMARY KEY (document, name)) WITHOUT ROWID",
        "DELETE FROM file_states",
    ),
    # by key: what was read in pictures of pages, figures
    ("CREATE TABLE blobs (key TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL)",),
    # the manifest of the index: its segments, documents that are in none yet, and rows that are no
    # longer as segments up to a number have them. The view is made by each connection, so that the
    # schema stays within the first page of the file
    (
        "DROP VIEW current_checksums",
        "CREATE TABLE segments (number INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL)",
        "CREATE TABLE unindexed (row INTEGER PRIMARY KEY)",
        "CREATE TABLE outdated (row INTEGER PRIMARY KEY, segment INTEGER NOT NULL)",
        "INSERT INTO unindexed SELECT row FROM documents",
        # what lists of documents show, so that no text is read for them
        "INSERT OR REPLACE INTO facts SELECT row, 'listed', json_array(length(text), words, tokens,"
        " added, (SELECT count(*) FROM passages WHERE document = documents.row),"
        " json((SELECT json_group_array(DISTINCT value) FROM passages, json_each(speakers)"
        " WHERE document = documents.row))), 0 FROM documents",
        "UPDATE facts SET checksum = checksum(document, CAST(name AS BLOB), CAST(value AS BLOB))"
        " WHERE name = 'listed'",
        "CREATE TRIGGER document_added AFTER INSERT ON documents BEGIN"
        " INSERT INTO unindexed VALUES (NEW.row); END",
        "CREATE TRIGGER document_removed AFTER DELETE ON documents BEGIN"
        " DELETE FROM unindexed WHERE row = OLD.row;"
        " INSERT OR REPLACE INTO outdated"
        " SELECT OLD.row, seq FROM sqlite_sequence WHERE name = 'segments'; END",
    ),
    # what documents are called, by the keys of `name_keys.py`; each connection makes the triggers
    # for itself, for the same reason
    (
        "DROP TRIGGER document_added",
        "DROP TRIGGER document_removed",
        "CREATE TABLE names (key TEXT, collection INTEGER, document INTEGER,"
        " PRIMARY KEY (key, collection, document)) WITHOUT ROWID",
        "INSERT INTO names SELECT value, collection, document FROM memberships,"
        " json_each(name_keys(memberships.path, part, title))",
    ),
    # when documents are of and who takes part, by the keys of `occasion_keys.py`, of documents of
    # which all that lists show is there
    (
        "INSERT OR IGNORE INTO facts SELECT row, 'listed', json_array(length(text), words, tokens,"
        " added, (SELECT count(*) FROM passages WHERE document = documents.row),"
        " json((SELECT json_group_array(DISTINCT value) FROM passages, json_each(speakers)"
        " WHERE document = documents.row))), 0 FROM documents"
        " WHERE row NOT IN (SELECT document FROM facts WHERE name = 'listed')",
        "UPDATE facts SET checksum = checksum(document, CAST(name AS BLOB), CAST(value AS BLOB))"
        " WHERE name = 'listed' AND checksum = 0",
        "CREATE TABLE occasions (collection INTEGER, key TEXT, document INTEGER,"
        " PRIMARY KEY (collection, key, document)) WITHOUT ROWID",
        "INSERT INTO occasions SELECT collection, value, document FROM memberships,"
        " json_each(occasion_keys((SELECT value FROM facts"
        " WHERE document = memberships.document AND name = 'occasion'), (SELECT value FROM facts"
        " WHERE document = memberships.document AND name = 'listed')))",
    ),
)
