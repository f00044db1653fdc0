// sessions: what was said in conversations, and what was learnt from it.
import { html } from "htm/preact";
import { SessionList } from "./sessions/list.js";
import { Transcript } from "./sessions/transcript.js";

export default function Sessions({ route }) {
  const [id] = route.rest;
  return id ? html`<${Transcript} id=${id} params=${route.params} />` : html`<${SessionList} params=${route.params} />`;
}
