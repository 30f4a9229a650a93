// The page of the inspector: what a user sees and does, by the names that a screen reader tells.

import { openSessionService, type SessionService } from 'adk-session-wasm';
import type { CachedSessionService } from 'adk-session-wasm/cache';
import { exportSession } from 'adk-session-wasm/files';
import 'adk-session-wasm/inspector';
import type { InspectorProperties } from 'adk-session-wasm/inspector';

import { exposeScenarios } from '../../expose_scenarios.js';
import { loseDatabase, openCache, records } from './caches.js';
import {
  APP,
  damagedShop,
  HOSTILE_KEY,
  holdHistory,
  hostileShop,
  KEY,
  longTalk,
  teaShop,
} from './conversation.js';

let inspector: HTMLElement & InspectorProperties;
let service: SessionService;
const violations: string[] = [];
const selected: string[] = [];
let releaseCreations: () => void = () => undefined;
const saved: { name: string; blob: Blob }[] = [];

document.addEventListener(
  'securitypolicyviolation',
  ({ violatedDirective, sourceFile, sample }) => {
    violations.push(`${violatedDirective} ${sourceFile} ${sample}`);
  },
);

const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

async function until<T>(what: string, find: () => T): Promise<NonNullable<T>> {
  for (let tries = 0; tries < 1500; tries += 1) {
    const found = find();
    if (found !== undefined && found !== null && found !== false) return found;
    await pause(20);
  }
  throw new Error(`${what} did not come; the inspector has: ${shownText().slice(0, 3000)}`);
}

/**
 * Waits until a row stands still. Real time has to show that it moves no more: a busy machine lays out late, and no event
 * follows the last layout.
 */
async function stillRow(find: () => [string, number]): Promise<[string, number]> {
  let row = find();
  for (let still = 0; still < 3;) {
    await pause(100);
    const next = find();
    still = String(next) === String(row) ? still + 1 : 0;
    row = next;
  }
  return row;
}

const all = (selector: string): HTMLElement[] => [
  ...(inspector.shadowRoot?.querySelectorAll<HTMLElement>(selector) ?? []),
];

/** The name that a screen reader tells, without times. */
function nameOf(element: Element): string {
  const label =
    element.getAttribute('aria-label') ??
    element.closest('label')?.querySelector('span')?.textContent;
  if (typeof label === 'string') return label;
  const heard = element.cloneNode(true) as Element;
  for (const unheard of heard.querySelectorAll('[aria-hidden], time')) unheard.remove();
  for (const part of heard.querySelectorAll('*')) part.append(' ');
  return heard.textContent.replace(/\s+/g, ' ').trim();
}

const CONTROLS = 'button, input, select, textarea, summary, [role=listbox], [role=tabpanel]';
const control = (name: string): HTMLElement | undefined =>
  all(CONTROLS).find(
    (element) => nameOf(element) === name && !(element as HTMLButtonElement).disabled,
  );

/** The part of the page that has the inspector. */
const frame = (): HTMLElement => document.querySelector('main') ?? document.body;

const shownText = (): string => all('.inspector')[0]?.innerText ?? '';

function show(
  given: SessionService | Promise<SessionService>,
  key: { appName?: string; userId?: string; sessionId?: string },
): void {
  inspector?.remove();
  inspector = document.createElement('adk-session-inspector');
  Object.assign(inspector, { service: given, ...key });
  inspector.addEventListener('sessionselect', ({ detail }) => selected.push(detail.sessionId));
  frame().append(inspector);
}

const scenarios = {
  /** Shows the sessions of the tea shop, or the session of it. */
  async openShop(withSession: boolean) {
    const shop = await teaShop();
    service = shop;
    show(shop, withSession ? KEY : APP);
    await until('the list', () => shownText().includes('Tea'));
  },
  async openLong(count: number) {
    const long = await longTalk(count);
    service = long;
    show(long, KEY);
    await until('the last event', () => shownText().includes(`message ${count}`));
  },
  /** Sets a service that opens late, then the tea shop, and opens the first one. */
  async openTwo() {
    const late = await longTalk(3);
    service = await teaShop();
    let open: () => void = () => undefined;
    const opening = new Promise<SessionService>((resolve) => (open = () => resolve(late)));
    show(opening, KEY);
    await pause(50);
    inspector.service = service;
    open();
    await until('the last event', () => shownText().includes('Thank you!'));
  },
  /** Shows another service in the same element. */
  async changeService() {
    inspector.service = await teaShop();
  },
  /** From now on, a walk through the list of sessions does not end. */
  stopWalks() {
    const list = service.listSessions.bind(service);
    const isWalk = ({ limit = 0 }: { limit?: number | undefined }): boolean => limit > 100;
    Object.assign(service, {
      listSessions: (request: Parameters<typeof list>[0]) =>
        isWalk(request) ? new Promise(() => undefined) : list(request),
    });
  },
  async openHostile() {
    const hostile = await hostileShop();
    service = hostile;
    show(hostile, HOSTILE_KEY);
    await until(
      'the last event',
      () => shownText().includes('odd') || all('[role=option]').length >= 6,
    );
  },
  /** Shows a session with a picture and a file that a browser would run. */
  async openFiles() {
    const filed = await openSessionService({ storage: 'memory', artifacts: true });
    service = filed;
    await service.createSession(KEY);
    const canvas = document.createElement('canvas');
    const picture = await new Promise<Blob | null>((done) => canvas.toBlob(done));
    const html = new Blob(['<p>'], { type: 'text/html' });
    for (const data of [html, picture ?? html]) {
      await filed.artifacts.put({ ...KEY, filename: 'tea.png', data, author: 'user' });
    }
    await filed.artifacts.put({ ...KEY, filename: 'user:page.html', data: html });
    show(service, KEY);
    await until('the session', () => shownText().includes('events held of 0'));
  },
  /** Saves a file as an agent does, and an event with its version. */
  async saveFile(filename: string) {
    const { artifacts } = service as Awaited<ReturnType<typeof openSessionService>>;
    const artifact = { text: 'A cup.' };
    const version = await artifacts.saveArtifact({ ...KEY, filename, artifact });
    const session = (await service.getSession(KEY))!;
    const actions = {
      stateDelta: {},
      artifactDelta: { [filename]: version },
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
    };
    const event = { id: 'e1', invocationId: 'i1', author: 'guide', actions };
    await service.appendEvent({ session, event });
  },
  savedNames: () => (all('a[download]') as HTMLAnchorElement[]).map(({ download }) => download),
  async pictures() {
    const images = (): HTMLImageElement[] => all('img') as HTMLImageElement[];
    await until('the pictures', () => images().every(({ naturalWidth }) => naturalWidth > 0));
    return images().map(({ alt, naturalWidth }) => [alt, naturalWidth]);
  },
  async openDamaged() {
    service = await damagedShop();
    show(service, KEY);
    await until('the error', () => shownText().includes('is not the JSON'));
  },
  /** Over IndexedDB, by the promise that opens it. */
  async openStored(name: string) {
    const opening = openSessionService({ storage: 'indexeddb', name });
    show(opening, KEY);
    service = await opening;
    await service.getOrCreateSession(KEY);
    await until('the events', () => /Events 1|events held of 0/.test(shownText()));
  },
  async openCache(url: string, local: 'memory' | 'indexeddb' = 'memory') {
    service = await openCache(url, local);
    show(service, KEY);
  },
  async forget() {
    await (service as CachedSessionService).forget();
  },
  loseDatabase,
  records,
  async append(id: string, text: string, stateDelta: Record<string, unknown> = {}) {
    const session = await service.getSession({ ...KEY, config: { numRecentEvents: 0 } });
    if (session === undefined) throw new Error('there is no session');
    const content = { role: 'user', parts: [{ text }] };
    const actions = {
      stateDelta,
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
    };
    await service.appendEvent({
      session,
      event: { id, invocationId: 'i9', author: 'user', content, actions },
    });
  },
  async addSession(userId: string, sessionId: string, title: string) {
    await service.createSession({ ...APP, userId, sessionId, title });
    await until('the session', () => shownText().includes(title));
  },
  async stored() {
    const session = await service.getSession(KEY);
    return session && { state: session.state, title: session.title, labels: session.labels };
  },
  async click(name: string) {
    (await until(`the button ${name}`, () => control(name))).click();
  },
  async type(name: string, text: string) {
    const field = (await until(`the field ${name}`, () => control(name))) as HTMLInputElement;
    field.focus();
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  },
  /** Selects the option of a list with a text. */
  async choose(list: string, text: string) {
    const option = await until(`the option ${text}`, () =>
      all(`[aria-label="${list}"] [role=option]`).find((option) => nameOf(option).includes(text)),
    );
    option.click();
  },
  /** Waits until what begins so has the focus. */
  async seeFocus(what: string) {
    await until(`the focus on ${what}, not on ${scenarios.focused()}`, () => scenarios.focused().startsWith(what)); // prettier-ignore
  },
  async see(text: string) {
    await until(`the text ${text}`, () => shownText().includes(text));
  },
  async seeNot(text: string) {
    await until(`the end of ${text}`, () => !shownText().includes(text));
  },
  text: (selector: string) => all(selector).map((element) => element.innerText),
  async seeTexts(selector: string, texts: readonly string[]) {
    const expected = JSON.stringify(texts);
    await until(`${selector} with ${expected}`, () => JSON.stringify(scenarios.text(selector)) === expected); // prettier-ignore
  },
  options: (list: string) =>
    all(`[aria-label="${list}"] [role=option]`).map((option) => nameOf(option)),
  nodes: () => inspector.shadowRoot?.querySelectorAll('*').length ?? 0,
  /** Waits until a session with such an id is selected, and returns all that were. */
  async seeSelected(pattern: string) {
    await until(`the selection of ${pattern}`, () => selected.some((id) => new RegExp(pattern).test(id))); // prettier-ignore
    return selected.splice(0);
  },
  properties: () => [inspector.appName, inspector.userId, inspector.sessionId],
  /** What has the focus, within the inspector too. */
  focused() {
    const element = document.activeElement?.shadowRoot?.activeElement ?? document.activeElement;
    if (element === null) return '';
    const role = element.getAttribute('role') ?? element.localName;
    const active = element.getAttribute('aria-activedescendant');
    const option = active === null ? undefined : all(`#${active}`)[0];
    return `${role} ${nameOf(element).slice(0, 40)}${option ? `: ${nameOf(option)}` : ''}`;
  },
  /** Scrolls, and returns the row at the top with its distance from the top, before and after older ones came. */
  async scrollToOlder() {
    const [list] = all('[aria-label="Events"]');
    if (list === undefined) throw new Error('there is no list');
    const space = list.firstElementChild as HTMLElement;
    const rowAt = (): [string, number] => {
      const top = list.getBoundingClientRect().top + list.clientTop;
      const row = all('[aria-label="Events"] [role=option]').find((row) => row.getBoundingClientRect().bottom > top + 1); // prettier-ignore
      return [
        row?.lastElementChild?.textContent ?? '',
        Math.round((row?.getBoundingClientRect().top ?? 0) - top),
      ];
    };
    const before = list.scrollHeight;
    list.scrollTop = 40 * 64;
    const first = space.firstElementChild?.id;
    await until('older rows', () => list.scrollTop > 41 * 64 || list.scrollHeight !== before || space.firstElementChild?.id !== first); // prettier-ignore
    return { row: await stillRow(rowAt), height: list.scrollHeight, nodes: scenarios.nodes() };
  },
  async drop(name: string, text: string) {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    const [target] = all('[aria-label="Sessions"], .inspector');
    target?.dispatchEvent(
      new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }),
    );
  },
  /** Drops a text onto a field. Returns whether the browser puts it into the field. */
  async dropText(name: string, text: string) {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    const drop = new DragEvent('drop', { dataTransfer: data, bubbles: true, composed: true, cancelable: true }); // prettier-ignore
    return (await until(`the field ${name}`, () => control(name))).dispatchEvent(drop);
  },
  /** From now on, sessions are created after `releaseCreations`. */
  holdCreations() {
    const create = service.createSession.bind(service);
    const isReleased = new Promise<void>((resolve) => (releaseCreations = resolve));
    service.createSession = (request) => isReleased.then(() => create(request));
  },
  releaseCreations: () => releaseCreations(),
  /** Waits until the service has the session, and the inspector has seen that it has. */
  async seeStored(sessionId: string) {
    while ((await service.getSession({ ...KEY, sessionId })) === undefined) await pause(20);
    // Over memory the inspector goes on in the same task.
    await pause(0);
  },
  async pick(name: string, text: string) {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    const input = all('input[type=file]')[0] as HTMLInputElement;
    input.files = data.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
  },
  async exported(sessionId: string) {
    return JSON.stringify(await exportSession(service, { ...KEY, sessionId }));
  },
  /** The files that the inspector lets the user save. */
  async savedFiles() {
    await until('a file', () => saved[0]);
    return Promise.all(saved.splice(0).map(async ({ name, blob }) => [name, await blob.text()]));
  },
  marks: () => all('mark').map((mark) => `${mark.className} ${mark.textContent}`),
  style: (selector: string, name: string) =>
    getComputedStyle(all(selector)[0] ?? document.body).getPropertyValue(name),
  /** The boxes that scroll sideways, the page included, and the controls that are cut off at a side. */
  tooWide() {
    const boxes = all('*').filter((box) => /auto|scroll/.test(getComputedStyle(box).overflowX));
    const scrolled = [document.documentElement, ...boxes].filter(
      ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
    );
    const { left, right } = frame().getBoundingClientRect();
    const cutOff = all(CONTROLS)
      .map((control) => ({ control, box: control.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && (box.left < left || box.right > right))
      .map(({ control }) => control);
    return [...scrolled, ...cutOff].map(
      (element) => `${element.localName}.${element.className} ${nameOf(element).slice(0, 40)}`,
    );
  },
  width(pixels: number) {
    frame().style.width = `${pixels}px`;
  },
  /** Waits until one view is shown at a time. Until then a list may have the name of a tab. */
  async seeNarrow() {
    await until('the layout of a phone', () => all('.inspector.narrow')[0]);
  },
  security() {
    let isEnforced = false;
    try {
      document.createElement('div').innerHTML = '<b>x</b>';
    } catch {
      isEnforced = true;
    }
    const { pwned, polluted } = globalThis as { pwned?: unknown; polluted?: unknown };
    // The line above is a violation of its own.
    const own = isEnforced ? violations.filter((line) => !line.includes('<b>x</b>')) : violations;
    const scripts = inspector.shadowRoot?.querySelectorAll('script, img, iframe, object').length;
    return {
      isEnforced,
      violations: own,
      isRun: pwned !== undefined,
      isPolluted: polluted !== undefined,
      scripts,
    };
  },
  async axe() {
    const { axe } = globalThis as unknown as { axe: { run(target: object, options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> } }; // prettier-ignore
    const { violations } = await axe.run(document, { resultTypes: ['violations'] });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`,
    );
  },
  async openByAttributes() {
    const shop = await teaShop();
    service = shop;
    inspector?.remove();
    inspector = document.createElement('adk-session-inspector');
    for (const [name, value] of [['app-name', 'shop'], ['user-id', 'ada'], ['session-id', 'tea-talk']] as const) inspector.setAttribute(name, value); // prettier-ignore
    frame().append(inspector);
    await until('what is missing', () => inspector.shadowRoot?.textContent.includes('Set the property')); // prettier-ignore
    inspector.service = shop;
    await until('the last event', () => shownText().includes('Thank you!'));
  },
  /** Takes the inspector from the page, and puts it back when it shows nothing any more. */
  async leave() {
    inspector.remove();
    await until('the end of the view', () => all('.inspector').length === 0);
    frame().append(inspector);
    await until('the list', () => shownText().includes('Tea'));
  },
  /** Moves the inspector to another place of the page. */
  move() {
    frame().prepend(inspector);
    frame().append(inspector);
  },
  /** Deletes the session, and creates it again without events, before the page has shown that it is gone. */
  async createAgain() {
    await service.deleteSession(KEY);
    await service.createSession(KEY);
  },
  /** How many watches of the session there are. */
  async countWatches() {
    let count = 0;
    const watch = service.watch.bind(service) as (...args: unknown[]) => unknown;
    Object.assign(service, {
      watch: (...args: unknown[]) => {
        count += 1;
        return watch(...args);
      },
    });
    frame().prepend(inspector);
    await pause(0);
    Object.assign(service, { watch });
    return count;
  },
  holdHistory: () => holdHistory(service),
};

export type InspectorScenarios = typeof scenarios;

// The files go to the test, not to the disk.
const toUrl = URL.createObjectURL.bind(URL);
let last: Blob | undefined;
URL.createObjectURL = (blob: Blob) => toUrl((last = blob));
HTMLAnchorElement.prototype.click = function () {
  if (last !== undefined) saved.push({ name: this.download, blob: last });
};
exposeScenarios(scenarios);
