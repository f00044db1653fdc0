// navigation: the column at the left, and the bar at the bottom of a phone.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { connection } from "./live.js";
import { PAGES } from "./pages.js";
import { Button } from "./parts/button.js";
import { Dialog } from "./parts/dialog.js";
import { Icon, Mark } from "./parts/icon.js";
import { href } from "./router.js";
import { useSignal } from "./signal.js";
import { isDark, switchTheme, theme } from "./theme.js";
import { useWaiting } from "./waiting.js";

const LISTED = PAGES.filter((page) => page.group !== "hidden");
const GROUPS = [...new Set(LISTED.map((page) => page.group))];
const ON_PHONE = ["", "search", "review", "map"];
const MOST_SHOWN = 99;
const STATES = { live: ["Live", "Changes appear by themselves"], lost: ["Not live", "The connection to Lore is lost"] };

function Waiting({ count }) {
  if (!count) return null;
  return html`<span class="count accent">${count > MOST_SHOWN ? `${MOST_SHOWN}+` : count}<span class="hidden-text"> to review</span></span>`;
}

export function Side({ page, onPalette, onHelp }) {
  const waiting = useWaiting();
  useSignal(theme);
  const state = useSignal(connection);
  const [stateText, stateHelp] = STATES[state] ?? ["", ""];
  return html`<div class="side">
    <a class="brand" href=${href()} aria-label="Lore, home"><${Mark} /><span>Lore</span></a>
    <button type="button" class="jump" onClick=${onPalette}>
      <${Icon} name="search" size="15" /><span>Search or jump…</span><kbd>Ctrl K</kbd>
    </button>
    <nav class="nav" aria-label="Pages">
      ${GROUPS.map(
        (group) => html`<div key=${group}>
          ${group && html`<h2>${group}</h2>`}
          <ul>
            ${LISTED.filter((one) => one.group === group).map(
              (one) => html`<li key=${one.path}>
                <${PageLink} page=${one} current=${page}>${one.path === "review" && html`<${Waiting} count=${waiting} />`}<//>
              </li>`,
            )}
          </ul>
        </div>`,
      )}
    </nav>
    <div class="side-foot">
      <span class=${`pulse grow ${state}`} title=${stateHelp}><span>${stateText}</span></span>
      <${Button} icon="keyboard" look="quiet" small label="Keyboard shortcuts" onClick=${onHelp} />
      <${Button} icon=${isDark() ? "sun" : "moon"} look="quiet" small label=${isDark() ? "Light colours" : "Dark colours"} onClick=${switchTheme} />
    </div>
  </div>`;
}

function PageLink({ page, current, children }) {
  return html`<a
    class="nav-link" href=${href(...[page.path].filter(Boolean))} title=${page.title}
    aria-current=${page.path === current ? "page" : undefined}
  ><${Icon} name=${page.icon} /><span>${page.title}</span>${children}</a>`;
}

export function PhoneBar({ page, onHelp }) {
  const waiting = useWaiting();
  const [open, setOpen] = useState(false);
  const others = LISTED.filter((one) => !ON_PHONE.includes(one.path));
  return html`<nav class="bar" aria-label="Pages, short">
      ${LISTED.filter((one) => ON_PHONE.includes(one.path)).map(
        (one) => html`<a key=${one.path} href=${href(...[one.path].filter(Boolean))} aria-current=${one.path === page ? "page" : undefined}>
          <${Icon} name=${one.icon} size="21" />${one.title}
          ${one.path === "review" && html`<${Waiting} count=${waiting} />`}
        </a>`,
      )}
      <button type="button" onClick=${() => setOpen(true)}><${Icon} name="more" size="21" />More</button>
    </nav>
    ${open &&
    html`<${Dialog} title="More" onClose=${() => setOpen(false)}>
      <div class="sheet-nav" onClick=${() => setOpen(false)}>
        ${others.map((one) => html`<${PageLink} key=${one.path} page=${one} current=${page} />`)}
        <button type="button" class="nav-link button quiet" onClick=${switchTheme}>
          <${Icon} name=${isDark() ? "sun" : "moon"} />${isDark() ? "Light colours" : "Dark colours"}
        </button>
      </div>
    <//>`}`;
}
