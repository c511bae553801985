// Every event that was sent gets its answer.
//
// Gradio's client reads the answers of all events from one stream, which the server ends as soon as
// it knows of no event without an answer. An event that is sent in that moment is lost: the client
// believes that the stream is still open. So the stream is read here first. Where the server ends
// it while an event has no answer yet, it is opened once more, unnoticed by the client.
"use strict";

(() => {
  const send = window.fetch.bind(window);
  const open = new Set(); // ids of events without an answer; a symbol for one without an id yet
  const early = new Set(); // ids of answers that came before the ids of their events

  window.fetch = (...request) => {
    const url = request[0] instanceof Request ? request[0].url : String(request[0]);
    const { pathname } = new URL(url, location.href);
    if (pathname.endsWith("/queue/join")) return join(request);
    if (pathname.endsWith("/queue/data")) return listen(request);
    if (pathname.endsWith("/cancel")) forget(request[1]?.body);
    return send(...request);
  };

  async function join(request) {
    const sent = Symbol("sent");
    open.add(sent);
    try {
      const response = await send(...request);
      const id = response.ok ? (await response.clone().json()).event_id : undefined;
      if (id !== undefined && !early.delete(id)) open.add(id);
      return response;
    } finally {
      open.delete(sent);
      if (![...open].some((each) => typeof each === "symbol")) early.clear();
    }
  }

  function answered(id) {
    if (!open.delete(id)) early.add(id);
  }

  function forget(body) {
    try {
      open.delete(JSON.parse(body).event_id);
    } catch {
      // not the cancelling of an event
    }
  }

  async function listen(request) {
    const response = await send(...request.map((each) => each.clone?.() ?? each));
    if (!response.ok || !response.body) return response;
    const body = new ReadableStream({ start: (out) => void pass(request, response, out) });
    return new Response(body, { headers: response.headers });
  }

  async function pass(request, first, out) {
    try {
      let response = first;
      while (response?.ok && await passOne(response, out)) {
        response = await send(...request.map((each) => each.clone?.() ?? each));
      }
      out.close();
    } catch (error) {
      out.error(error);
    }
  }

  // Pass a stream on; whether it has to be opened once more.
  async function passOne(response, out) {
    const encoder = new TextEncoder();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      const messages = (text + value).split("\n\n");
      text = messages.pop();
      for (const message of messages) {
        const { msg, event_id: id } = JSON.parse(message.replace(/^data: /, "") || "{}");
        if (msg === "process_completed") answered(id);
        if (msg === "close_stream" && open.size) return true;
        out.enqueue(encoder.encode(`${message}\n\n`));
      }
    }
  }
})();
