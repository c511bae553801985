// Every event that was sent gets its answer.
//
// Gradio's client reads the answers of all events from one stream, which the server ends as soon as
// it knows of no event without an answer. An event that is sent in that moment is lost, and so is
// every later one after a stream that broke off: the client believes that it is still open. So the
// stream is read here first. Where it ends too early, it is read on from there, unnoticed by the
// client; only if that fails for long are the events that lack an answer said to be lost.
//
// And no answer comes too late: Gradio shows them as they arrive. What was sent before a person went
// on, and is answered after it, would show a conversation that they have left; so would what reads
// the open conversation on its own, while the page does not know yet which one they went to.
"use strict";

(() => {
  const CLOSE = "close_stream";
  const [TRIES, PAUSE] = [8, 300]; // times; milliseconds, and twice, three times as long ...
  const send = window.fetch.bind(window);
  const open = new Set(); // ids of events without an answer
  const joining = new Set(); // events without an id yet
  const early = new Set(); // ids of answers that came before the ids of their events
  const sent = new Map(); // which talk an event shows, by its id
  let turns = 0; // how often a person has left a talk, which is the number of the next
  let shown = 0; // the talk that the page knows of
  let last = 0; // number of the last message that was read

  window.fetch = (...request) => {
    const url = request[0] instanceof Request ? request[0].url : String(request[0]);
    const { pathname } = new URL(url, location.href);
    if (pathname.endsWith("/queue/join")) return join(request);
    if (pathname.endsWith("/queue/data")) return listen(new Request(...request));
    if (pathname.endsWith("/cancel")) forget(request[1]?.body);
    return send(...request);
  };

  function join(request) {
    const at = turnOf(JSON.parse(request[1]?.body ?? "{}").fn_index);
    const joined = (async () => {
      const response = await send(...request);
      const id = response.ok ? (await response.clone().json()).event_id : undefined;
      if (id === undefined || early.delete(id)) settle(at);
      else {
        open.add(id);
        if (at !== undefined) sent.set(id, at);
      }
      return response;
    })();
    const event = joined.catch(() => settle(at)).then(() => {
      joining.delete(event);
      if (!joining.size) early.clear();
    });
    joining.add(event);
    return joined;
  }

  // The talk that is shown by the event that is sent now; undefined for other events.
  function turnOf(number) {
    const order = JSON.parse(document.querySelector("meta[name=rag-app-events]")?.content ?? "{}");
    if (order.follows?.includes(number)) return shown;
    if (order.turns?.includes(number)) turns += 1;
    else if (!order.questions?.includes(number)) return undefined;
    return turns;
  }

  // Nothing more is to come of an event: the page shows its talk, or will not.
  function settle(at = 0) {
    shown = Math.max(shown, at);
  }

  function answered(id) {
    settle(sent.get(id));
    sent.delete(id);
    if (!open.delete(id)) early.add(id);
  }

  function forget(body) {
    try {
      open.delete(JSON.parse(body).event_id);
    } catch {
      // not the cancelling of an event
    }
  }

  function listen(request) {
    const body = new ReadableStream({ start: (out) => void pass(request, out) });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  }

  async function pass(request, out) {
    const say = (data) => out.enqueue(new TextEncoder().encode(`data: ${data}\n\n`));
    let failures = 0;
    try {
      while (!request.signal.aborted) {
        const heard = await passOne(request, say);
        while (joining.size) await Promise.all(joining);
        failures = heard ? 0 : failures + 1;
        if (failures > TRIES) for (const id of open) giveUp(id, say);
        if (!open.size) break;
        await new Promise((done) => setTimeout(done, PAUSE * failures));
        await online();
      }
      say(JSON.stringify({ msg: CLOSE }));
      out.close();
    } catch {
      // the client reads no more
    }
  }

  function giveUp(id, say) {
    answered(id);
    say(JSON.stringify({
      msg: "unexpected_error", event_id: id, message: gettext("The connection was lost."),
      session_not_found: true, success: false,
    }));
  }

  function online() {
    if (navigator.onLine) return undefined;
    return new Promise((done) => window.addEventListener("online", done, { once: true }));
  }

  // Pass the rest of a stream on; whether anything came.
  async function passOne(request, say) {
    const url = new URL(request.url);
    url.searchParams.set("after", last);
    let heard = false;
    let text = "";
    try {
      const response = await send(new Request(url, request));
      if (!response.ok || !response.body) return false;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return heard;
        const messages = (text + value).split("\n\n");
        text = messages.pop();
        for (const message of messages) heard = take(message, say) || heard;
      }
    } catch {
      return heard; // it broke off
    }
  }

  // Pass a message on, unless it ends the stream; whether it did not.
  function take(message, say) {
    const field = (name) => message.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1];
    const data = field("data") ?? "{}";
    const { output, ...about } = JSON.parse(data);
    if (about.msg === CLOSE) return false;
    last = Number(field("id") ?? last);
    const late = sent.get(about.event_id) < turns && Array.isArray(output?.data);
    say(late ? JSON.stringify({ ...about, output: { ...output, data: [] } }) : data);
    if (about.msg === "process_completed") answered(about.event_id);
    return true;
  }
})();
