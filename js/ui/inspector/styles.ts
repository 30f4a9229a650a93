/** The styles of the inspector. They stand in its shadow root, so neither they nor those of the page leak. */
export const CSS = `
:host {
  color-scheme: light dark;
  --text: #1b1f24; --muted: #57606a; --ground: #ffffff; --raised: #f3f5f7; --line: #d0d7de;
  --accent: #0550ae; --accent-ground: #dbeafe; --good: #116329; --good-ground: #dafbe1;
  --warn: #7d4e00; --warn-ground: #fff1c2; --bad: #a40e26; --bad-ground: #ffe3e3;
  display: block; height: 36rem; min-height: 20rem; contain: content;
  font: 14px/1.45 system-ui, sans-serif; color: var(--text); background: var(--ground);
}
@media (prefers-color-scheme: dark) {
  :host {
    --text: #e6edf3; --muted: #9da7b3; --ground: #0d1117; --raised: #1a2029; --line: #3d444d;
    --accent: #79c0ff; --accent-ground: #12325c; --good: #7ee787; --good-ground: #0f3a1e;
    --warn: #f2cc60; --warn-ground: #3d2f00; --bad: #ffa198; --bad-ground: #4b1113;
  }
}
:host([hidden]) { display: none; }
*, *::before, *::after { box-sizing: border-box; }
.inspector { height: 100%; display: grid; grid-template-columns: minmax(13rem, 1fr) 4fr; }
.inspector.narrow { display: flex; flex-direction: column; }
.open-session { display: grid; grid-template-columns: 1fr 1fr; min-width: 0; min-height: 0; }
.narrow .open-session { display: flex; flex: 1; }
.narrow > .column { flex: 1; }
.narrow .open-session:empty { display: none; }
.column { display: flex; flex-direction: column; min-width: 0; min-height: 0; overflow: auto; padding: 8px; border-inline-start: 1px solid var(--line); flex: 1; }
.column:first-child { border: 0; }
.pane { padding: 0; overflow: hidden; }
.panel { flex: 1; min-height: 0; overflow: auto; padding: 8px; overflow-wrap: anywhere; }
h2, h3, h4 { margin: 8px 0 4px; font-size: 1em; }
h3, h4 { color: var(--muted); }
p { margin: 4px 0; }
button, input, select, textarea { font: inherit; color: inherit; border: 1px solid var(--line); border-radius: 5px; background: var(--ground); padding: 3px 8px; min-height: 28px; max-width: 100%; }
button { background: var(--raised); cursor: pointer; }
button:disabled { opacity: 0.55; cursor: default; }
button.danger { color: var(--bad); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.events:focus-visible, .session-options:focus-visible, .panel:focus-visible, .column:focus-visible { outline-offset: -2px; }
input[type='text'], textarea { width: 100%; }
.row { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin: 4px 0; }
.row input[type='text'] { flex: 1 1 6rem; width: auto; min-width: 0; }
.field { display: block; margin-bottom: 6px; }
.field span { display: block; color: var(--muted); font-size: 12px; }
.muted { color: var(--muted); font-size: 12px; }
.error { color: var(--bad); background: var(--bad-ground); padding: 4px 8px; border-radius: 5px; overflow-wrap: anywhere; }
pre.text { margin: 4px 0; padding: 6px 8px; background: var(--raised); border-radius: 5px; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 30rem; overflow: auto; unicode-bidi: isolate; font: 12px/1.5 ui-monospace, monospace; }
code { font: 12px ui-monospace, monospace; overflow-wrap: anywhere; }
.items { list-style: none; margin: 0; padding: 0; }
.items > li { padding: 6px 0; border-top: 1px solid var(--line); }
.facts { margin: 4px 0; }
.facts > div { display: flex; gap: 8px; }
dt { flex: 0 0 8rem; color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
.tabs { display: flex; flex-wrap: wrap; gap: 2px; padding: 4px 8px 0; border-bottom: 1px solid var(--line); }
.tabs button { border: 0; border-bottom: 2px solid transparent; border-radius: 0; background: none; }
.tabs button[aria-selected='true'] { border-color: var(--accent); color: var(--accent); }
.fill { min-height: 0; }
.session-options { border: 1px solid var(--line); border-radius: 5px; margin: 4px 0; }
.session-option { padding: 5px 8px; cursor: pointer; overflow-wrap: anywhere; }
.session-option + .session-option { border-top: 1px solid var(--line); }
[aria-selected='true'].session-option, [aria-selected='true'].event { background: var(--accent-ground); }
[aria-selected='true'] .muted, [aria-selected='true'] time { color: var(--text); }
.session-title { font-weight: 600; }
.timeline { flex: 1; display: flex; flex-direction: column; min-height: 0; }
.events { flex: 1; min-height: 6rem; overflow-y: auto; overflow-anchor: none; border: 1px solid var(--line); border-radius: 5px; }
.events-space { position: relative; overflow: hidden; }
.event { position: absolute; inset: 0 0 auto; height: 64px; padding: 4px 8px; border-bottom: 1px solid var(--line); overflow: hidden; cursor: pointer; contain: strict; }
.event-head { display: flex; gap: 6px; align-items: baseline; white-space: nowrap; overflow: hidden; height: 21px; }
.event-head time { margin-inline-start: auto; color: var(--muted); font-size: 11px; }
.event-text { height: 34px; font-size: 12px; line-height: 17px; overflow: hidden; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; unicode-bidi: isolate; }
.author { font-weight: 600; color: var(--good); overflow: hidden; text-overflow: ellipsis; flex-shrink: 0; max-width: 50%; }
.of-user .author { color: var(--accent); }
.chip { font-size: 11px; line-height: 17px; padding: 0 6px; border-radius: 8px; background: var(--raised); color: var(--text); overflow: hidden; text-overflow: ellipsis; min-width: 1.5em; }
.heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.chip.change { background: var(--good-ground); color: var(--good); }
.chip.call, .chip.result { background: var(--accent-ground); color: var(--accent); }
[aria-selected='true'] .chip { background: var(--ground); }
.chip.failed, .chip.mark { background: var(--warn-ground); color: var(--warn); }
.part { margin: 6px 0; }
.history { border-inline-start: 3px solid var(--line); padding-inline-start: 8px; }
.highlighted { position: relative; }
.highlighted pre, .highlighted textarea { margin: 0; width: 100%; height: 9rem; padding: 6px 8px; border: 1px solid var(--line); border-radius: 5px; font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: break-word; overflow-y: scroll; tab-size: 4; }
.highlighted pre { position: absolute; inset: 0; color: transparent; pointer-events: none; background: var(--ground); }
.highlighted textarea { position: relative; background: transparent; resize: none; display: block; }
mark { color: transparent; border-radius: 3px; background: var(--accent-ground); }
mark.missing { background: var(--bad-ground); text-decoration: underline wavy var(--bad); }
mark.empty { background: var(--warn-ground); }
mark.set { background: var(--good-ground); }
.placeholder.missing { color: var(--bad); }
`;
