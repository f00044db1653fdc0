// entities: people and things, and what is known about each of them.
import { html } from "htm/preact";
import { List } from "./entities/list.js";
import { One } from "./entities/one.js";

export default function Entities({ route: { rest: [id], params } }) {
  return id ? html`<${One} id=${id} />` : html`<${List} params=${params} />`;
}
