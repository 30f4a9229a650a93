// A page of the user: one over a cache, or one without. A call of a page is noted until it settles.

import { rewind, fork } from '../../../js/core/history/index.js';
import { rewindTargetOf } from '../../../js/values/model/event/markers.js';
import { type Event, isSessionError } from '../../../js/index.js';
import {
  type LiveSession,
  liveSession,
  type LiveSessionSnapshot,
} from '../../../js/ui/live/index.js';
import { type CacheOutbox, type OutboxEntry, signOut } from '../../../js/service/cache/index.js';
import { Device, Tab } from '../cache/device.js';
import { OUTSIDE, type World } from '../cache/world.js';
import type { Asked, Journal } from './model.js';
import { KEY, type Servers } from './servers.js';
import type { Step } from './steps.js';

/** The most milliseconds of a cancel over a network without faults: a second for the agent, another for an earlier one. */
const MOST_CANCEL_MS = 3000;

/** The numbers of their tabs, which say that requests are repeated. */
const TABS = [5, 1] as const;

/** The most milliseconds of a sign-out, which sends first what waits. */
const MOST_LEAVE_MS = 10_000;

/** Kinds of calls that ask the agent. */
const ASKING = ['ask', 'answer', 'edit', 'regenerate'];

/** Kinds of calls that may end a run. */
const ENDING = ['cancel', 'edit', 'regenerate', 'rewind', 'delete', 'discard', 'retry'];

export class Page {
  readonly device: Device;
  tab!: Tab;
  chat!: LiveSession;
  /** The server that it sends its requests to. */
  server: 0 | 1;
  /** The calls that have not settled. */
  readonly pending = new Set<string>();
  /** The requests of {@link Page.send} that have no answer. */
  readonly requests = new Set<string>();
  /** When it has asked or sent again last. */
  resumed = 0;
  readonly #servers: Servers;
  readonly #world: World;
  readonly #journal: Journal;
  #stop = (): void => undefined;
  /** The call that is answered last. */
  #answered: string | undefined;
  /** The message that was asked last. */
  #lastAsked: string | undefined;
  /** The message that the last call is about. */
  #replaced: string | undefined;

  constructor(
    readonly number: 0 | 1,
    servers: Servers,
  ) {
    this.device = new Device(number, servers.world, false, false);
    this.server = servers.script.isApart ? number : 0;
    this.#servers = servers;
    this.#world = servers.world;
    this.#journal = servers.journal;
  }

  get isCached(): boolean {
    return this.number === 0;
  }

  get snapshot(): LiveSessionSnapshot {
    return this.chat.getSnapshot();
  }

  /** The messages of the user that it shows. */
  get messages(): Event[] {
    return this.snapshot.events.filter(({ author }) => author === 'user');
  }

  /** What a cache has for its remote. */
  async outbox() {
    let entries: Awaited<ReturnType<CacheOutbox['list']>> | undefined;
    const { cache } = this.tab;
    if (cache === undefined) return undefined;
    await this.#world.act(this.tab, () => {
      void cache.outbox.list().then((list) => (entries = list));
    });
    await this.#world.until(() => entries !== undefined, 1000);
    return entries;
  }

  /** Sends again what has failed. */
  async retry(id: string): Promise<void> {
    await this.#world.act(this.tab, () => {
      this.#retry(id).catch((error: unknown) => this.#world.note(`  ${String(error)}`));
    });
  }

  async #retry(id: string): Promise<Event | undefined> {
    const earlier = this.resumed;
    const resumed = (this.resumed = this.#now);
    const sent = await this.chat.retry(id);
    // The message is on its way, or stored.
    if (sent === undefined && this.resumed === resumed) this.resumed = earlier;
    return sent;
  }

  /** Gives up an unsent event. The message of a rewind goes with it. */
  async discard(id: string): Promise<void> {
    const entries = (await this.outbox()) ?? [];
    for (const { events } of entries) {
      const at = events.findIndex((event) => event.id === id);
      if (at < 0) continue;
      const ids = rewindTargetOf(events[at]!) === undefined ? [id] : [id, events[at + 1]?.id];
      for (const dropped of ids) if (dropped !== undefined) this.#journal.dropped.add(dropped);
    }
    await this.#world.act(this.tab, () => {
      this.chat.discard(id).catch((error: unknown) => this.#world.note(`  ${String(error)}`));
    });
  }

  /** Opens a tab. */
  async open(): Promise<void> {
    const tab = (this.tab = new Tab(TABS[this.number], this.device, KEY.userId, this.isCached));
    await this.#world.act(tab, () => {
      const fetch: typeof globalThis.fetch = (input, init) =>
        this.#servers.all[this.server]!.network.fetchOf(tab)(input, init);
      tab.open(fetch, 'cache-first');
      this.#show();
    });
  }

  #show(): void {
    this.chat = liveSession(this.tab.service, KEY, { window: 1000 });
    this.#stop = this.chat.subscribe(() => undefined);
  }

  /** Opens the session again if it was deleted. */
  async showAgain(): Promise<void> {
    if (this.snapshot.status !== 'deleted') return;
    await this.#world.act(this.tab, () => {
      this.#stop();
      this.#show();
    });
  }

  /** Ends the tab as a browser does that kills it, or closes it. */
  async end(how: 'kill' | 'close'): Promise<void> {
    const { tab } = this;
    if (how === 'close') {
      await this.#world.act(tab, () => {
        this.#stop();
        tab.close().catch(() => undefined);
      });
      await this.#world.pass(100);
    }
    this.pending.clear();
    for (const asked of this.#journal.asked) {
      if (asked.page === this.number && asked.state === 'pending') asked.state = 'lost';
    }
    tab.crash();
    // What it has sent and what it follows ends with it.
    for (const { network } of this.#servers.all) network.cut(this.device);
  }

  /** Loses the data of the device, and opens the page again. */
  async leave(how: 'sign out' | 'forget'): Promise<void> {
    const { cache } = this.tab;
    if (cache === undefined) return this.#world.note('  nothing to do');
    // A sign-out tells what it loses.
    if (how === 'forget') this.#giveUp(undefined);
    let isOver = false;
    await this.#world.act(this.tab, () => {
      const leaving = how === 'forget' ? cache.forget() : signOut(cache, { unsent: (entries) => this.#lose(entries) }); // prettier-ignore
      leaving.then(
        () => (isOver = true),
        (error: unknown) => this.#world.fail(`${how} rejects: ${String(error)}`),
      );
    });
    if (!(await this.#world.until(() => isOver, MOST_LEAVE_MS))) this.#world.fail(`${how} never ends`); // prettier-ignore
    await this.end('kill');
    await this.open();
  }

  #lose(entries: readonly OutboxEntry[]): Promise<boolean> {
    for (const { id } of entries.flatMap(({ events }) => events)) this.#journal.dropped.add(id);
    return Promise.resolve(true);
  }

  /** Starts a call of a step. */
  async start(step: Step): Promise<void> {
    if (['ask', 'ask and cancel', 'cancel and ask'].includes(step.do)) await this.showAgain();
    const after = (run: () => void): void => this.#world.at(step.ms ?? 0, this.tab, run);
    await this.#world.act(this.tab, () => {
      if (step.do === 'ask and cancel') {
        this.call({ ...step, do: 'ask' });
        after(() => this.call({ ...step, do: 'cancel' }));
      } else if (step.do === 'cancel and ask') {
        this.call({ ...step, do: 'cancel' });
        after(() => this.call({ ...step, do: 'ask' }));
      } else this.call(step);
    });
  }

  /** Calls as the tab, whose code runs now. */
  call(step: Step): void {
    const label = `${step.do} ${step.n} of page ${this.number}`;
    const run = this.#callOf(step);
    if (run === undefined) return this.#world.note(`  ${label}: nothing to do`);
    const { tab } = this;
    const isAsking = ASKING.includes(step.do);
    const callId = step.do === 'answer' ? this.#answered : undefined;
    const replaced = step.do === 'edit' || step.do === 'regenerate' ? this.#replaced : undefined;
    const asked: Asked = { label, callId, replaced, page: this.number, isCached: this.isCached, began: this.#world.now, ended: Infinity, state: 'pending' }; // prettier-ignore
    if (isAsking || step.do === 'retry') this.#journal.asked.push(asked);
    if (isAsking) this.resumed = this.#now;
    const cause = { page: this.number, at: this.#now, kind: step.do, label, ended: Infinity };
    if (ENDING.includes(step.do)) this.#journal.causes.push(cause);
    const isCalm = step.do === 'cancel' && this.#servers.isCalm;
    this.pending.add(label);
    const settle = (outcome: string): boolean => {
      if (tab.isDead || !this.pending.delete(label)) return false;
      this.#world.note(`  ${label} ${outcome}`);
      asked.ended = cause.ended = this.#world.now;
      if (isCalm && asked.ended - asked.began > MOST_CANCEL_MS) {
        this.#world.fail(`${label} has taken ${asked.ended - asked.began} ms`);
      }
      return true;
    };
    run().then(
      (result) => {
        const { id } = (result ?? {}) as Partial<Event>;
        if (!settle(`is done${isAsking ? `: ${id?.slice(0, 4)}` : ''}`)) return;
        // What is sent again may still wait.
        Object.assign(asked, { id, ...(isAsking && { state: 'acknowledged' }) });
      },
      (error: unknown) => {
        const code = isSessionError(error) ? error.code : '';
        if (!settle(`rejects: ${code} ${String(error)}`)) return;
        asked.state = code === 'aborted' ? 'cancelled' : 'rejected';
        if (code === '') this.#world.fail(`${label} rejects: ${(error as Error).stack}`);
      },
    );
  }

  get #now(): number {
    return this.#journal.moment(this.#world.now);
  }

  /** Notes what a page gives up. */
  #giveUp(id: string | undefined): void {
    this.#journal.cancels.push({ page: this.number, at: this.#now, id });
  }

  #callOf(step: Step): (() => Promise<unknown>) | undefined {
    const { chat, snapshot } = this;
    const { n, which = 0, streaming } = step;
    const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(which * from.length)];
    const content = { role: 'user', parts: [{ text: `m${n} of page ${this.number}` }] };
    const message = pick(this.messages);
    this.#replaced = message?.id;
    switch (step.do) {
      case 'ask': {
        return () => {
          const asking = chat.ask(content, { streaming });
          this.#lastAsked = this.messages.at(-1)?.id;
          return asking;
        };
      }
      case 'answer': {
        const question = pick(snapshot.questions);
        this.#answered = question?.callId;
        return question && (() => chat.answer({ [question.callId]: { confirmed: true } }));
      }
      case 'edit':
        return message && (() => chat.edit(message.id, content));
      case 'regenerate':
        return message && (() => chat.regenerate(message.id));
      case 'rewind':
        return message && (() => rewind(this.tab.service, { ...KEY, before: { eventId: message.id } })); // prettier-ignore
      case 'fork':
        return message && (() => fork(this.tab.service, { ...KEY, newSessionId: `f${n}`, at: { eventId: message.id } })); // prettier-ignore
      case 'cancel': {
        const ids = {
          running: snapshot.run?.messageId,
          'any message': message?.id,
          'last asked': this.#lastAsked,
        };
        const id = step.how === 'unnamed' ? undefined : ids[step.how as keyof typeof ids];
        this.#giveUp(id);
        return () => chat.cancel(id);
      }
      case 'retry':
      case 'discard': {
        const id = pick(Object.keys(snapshot.unsent));
        if (id === undefined) return undefined;
        if (step.do === 'retry') return () => this.#retry(id);
        // Without a named event the cache may give up the whole session.
        this.#giveUp(undefined);
        return () => chat.discard(id);
      }
      case 'delete':
        this.#giveUp(undefined);
        return () => chat.remove();
      default:
        return undefined;
    }
  }

  /** Sends a request of its own, which no fault befalls. A rewind among them has to be refused. */
  async send(path: 'events' | 'rewind', body: object): Promise<void> {
    const json = JSON.stringify(body);
    const url = `http://server.test/apps/${KEY.appName}/users/${KEY.userId}/sessions/${KEY.sessionId}/${path}`; // prettier-ignore
    const headers = { 'content-type': 'application/json' };
    const request = new Request(url, { method: 'POST', headers, body: json });
    const label = `POST ${path} ${json}`;
    this.requests.add(label);
    await this.#world.act(OUTSIDE, () => {
      void this.#servers.all[this.server]!.handle(request, json).then((response) => {
        this.requests.delete(label);
        this.#world.note(`  ${label} gets ${response?.status}`);
        const isTaken = path === 'rewind' && response?.ok === true;
        if (isTaken) this.#world.fail(`status ${response.status} for ${label}`);
      });
    });
  }
}
