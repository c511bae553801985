// Every event that was sent gets its answer.
//
// Gradio's client reads the answers of all events from one stream, which the server ends as soon as
// it knows of no event without an answer. An event that is sent in that moment is lost, and so is
// every later one after a stream that broke off: the client believes that it is still open. So the
// stream is read here first. Where it ends too early, it is read on from there, unnoticed by the
// client; only if that fails for long are the events that lack an answer said to be lost.
//
// And no answer comes too late: Gradio shows them as they arrive. What was sent before a person went
// on, and is answered after it, would show a conversation that they have left; so would what follows
// by itself and was sent while the page did not know yet which one they went to.
"use strict";

(() => {
  const CLOSE = "close_stream";
  const [TRIES, PAUSE] = [8, 300]; // times; milliseconds, and twice, three times as long ...
  const send = window.fetch.bind(window);
  const open = new Set(); // ids of events without an answer
  const joining = new Set(); // events without an id yet
  const talks = new Map(); // events that show a conversation, by id: the turn, or the conversation
  let turns = 0; // how often a person has left a conversation
  let chat; // the conversation that the page was told to show; undefined before it is loaded
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
    const talk = talkOf(JSON.parse(request[1]?.body ?? "{}"));
    const joined = (async () => {
      const response = await send(...request);
      const id = response.ok ? (await response.clone().json()).event_id : undefined;
      if (id !== undefined) {
        open.add(id);
        if (talk) talks.set(id, talk);
      }
      return response;
    })();
    const event = joined.catch(() => undefined).then(() => joining.delete(event));
    joining.add(event);
    return joined;
  }

  // What an event shows of a conversation; undefined for other events.
  function talkOf({ fn_index: number, data }) {
    const order = JSON.parse(document.querySelector("meta[name=rag-app-events]")?.content ?? "{}");
    if (order.follows?.includes(number)) return { chat: data?.[0]?.chat };
    if (order.turns?.includes(number)) turns += 1;
    else if (!order.questions?.includes(number)) return undefined;
    return { turn: turns };
  }

  // Whether the values of a talk come after a person has gone on to another.
  function isLate(talk) {
    if (talk.turn !== undefined) return talk.turn < turns;
    return chat !== undefined && talk.chat !== chat;
  }

  async function allJoined() {
    while (joining.size) await Promise.all(joining);
  }

  function answered(id) {
    open.delete(id);
    talks.delete(id);
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
        await allJoined();
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
        for (const message of messages) heard = (await take(message, say)) || heard;
      }
    } catch {
      return heard; // it broke off
    }
  }

  // Pass a message on, unless it ends the stream; whether it did not.
  async function take(message, say) {
    const field = (name) => message.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1];
    const data = field("data") ?? "{}";
    const { output, ...about } = JSON.parse(data);
    if (about.msg === CLOSE) return false;
    last = Number(field("id") ?? last);
    const id = about.event_id; // none of a heartbeat
    if (id && !open.has(id)) await allJoined(); // it may come before its event has an id
    const talk = Array.isArray(output?.data) && talks.get(id);
    const late = talk && isLate(talk);
    if (!late && talk?.turn !== undefined) chat = chatOf(output.data) ?? chat;
    const values = late ? [] : talk ? undefined : withChat(output?.data);
    say(values ? JSON.stringify({ ...about, output: { ...output, data: values } }) : data);
    if (about.msg === "process_completed") answered(id);
    return true;
  }

  // The values of an event that shows no conversation: what it stores of the browser, which may have
  // been sent before a person went on, keeps the one they went to. Undefined where nothing changes.
  function withChat(values) {
    const stale = (value) => chat !== undefined && value?.key && value.chat !== chat;
    if (!Array.isArray(values) || !values.some(stale)) return undefined;
    return values.map((value) => (stale(value) ? { ...value, chat } : value));
  }

  // The conversation that the browser has open from now on, among the values of an answer.
  function chatOf(values) {
    return values.find((value) => value?.chat !== undefined)?.chat;
  }
})();
