"""Documents, presentations and workbooks of office programs: a file in, text and places out."""
