// What must hold of the messages and the runs of a schedule.

import type { Event } from '../../../js/index.js';
import { rewindTargetOf } from '../../../js/values/model/event/markers.js';
import { isAbort } from '../../../js/values/model/event/waiting.js';
import type { Actor, World } from '../cache/world.js';

/** A call of a page that asks the agent: `ask`, `answer`, `edit` or `regenerate`. */
export interface Asked {
  readonly label: string;
  readonly page: number;
  readonly isCached: boolean;
  readonly began: number;
  state: 'pending' | 'acknowledged' | 'rejected' | 'cancelled' | 'lost';
  ended: number;
  /** The call that it answers. */
  callId?: string | undefined;
  /** The message that it replaces. */
  replaced?: string | undefined;
  /** The id of its message, once the call has resolved. */
  id?: string;
}

/** Milliseconds of a run. */
export const MAX_RUN_MS = 15_000;

/** The most milliseconds of a run before its agent begins. */
export const BEGIN_MS = 2000;

/** A begin of an agent, or of a Runner's plugins. */
interface Begun {
  readonly message: Event;
  readonly what: 'agent' | 'plugin';
  readonly process: Actor;
  readonly signal: AbortSignal | undefined;
  readonly at: number;
  isOver: boolean;
  abortedAt: number;
}

/** Milliseconds after which an agent that nobody can end has been left. */
const LEFT_MS = 12_000;

/** Milliseconds after which a page knows how a run has ended. */
const TOLD_MS = 5000;

/** Milliseconds after a cancel in which it takes effect. */
const CANCEL_MS = 4000;

/** Milliseconds from the cancel of a run until its page knows. */
const ABORT_MS = 100;

/** Kinds of calls that may undo a message. */
const REWINDING = ['edit', 'regenerate', 'rewind'];

/** The begins of all agents. */
export class Begins {
  readonly all: Begun[] = [];
  /** When the run of a message has failed, or was left before its end. */
  readonly failed = new Map<string, number>();
  readonly #world: World;
  readonly #messages = new Map<string, { message: Event; signal: AbortSignal }>();
  /** The number of requests for each message that a process has got. A plugin may begin once in each. */
  readonly #requests = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  noteMessage(message: Event, signal: AbortSignal): void {
    this.#messages.set(message.invocationId, { message, signal });
  }

  noteRequest(messageId: string): void {
    this.#requests.set(messageId, (this.#requests.get(messageId) ?? 0) + 1);
  }

  messageOf(invocationId: string): Event {
    return this.#messages.get(invocationId)!.message;
  }

  fail(messageId: string): void {
    this.failed.set(messageId, this.#world.now);
  }

  /** Whether the agent has begun with a message. */
  has(messageId: string | undefined): boolean {
    return this.all.some(({ message, what }) => what === 'agent' && message.id === messageId);
  }

  /** When the run of a message was cancelled; `Infinity`: it was not. */
  abortedAt(messageId: string): number {
    const runs = this.all.filter(
      ({ message, what }) => what === 'agent' && message.id === messageId,
    );
    return Math.min(...runs.map(({ abortedAt }) => abortedAt));
  }

  begin(message: Event, given: AbortSignal | undefined, what: Begun['what']) {
    const process = this.#world.actor;
    const signal = given ?? this.#messages.get(message.invocationId)?.signal;
    const at = this.#world.now;
    const begun: Begun = { message, what, process, signal, at, isOver: false, abortedAt: Infinity };
    signal?.addEventListener('abort', () => (begun.abortedAt = this.#world.now));
    this.all.push(begun);
    this.#world.note(`  the ${what} begins with ${nameOf(message)}`);
    const count = this.all.filter((one) => one.what === what && one.message.id === message.id).length; // prettier-ignore
    const most = what === 'agent' ? 1 : (this.#requests.get(message.id) ?? 1);
    if (count > most) this.#world.fail(`the ${what} begins again with ${nameOf(message)}`);
    const end = (isDone: boolean): void => {
      begun.isOver = true;
      if (!isDone) this.fail(message.id);
    };
    const failed = (error: Error): Error => {
      end(false);
      return error;
    };
    return { end, failed };
  }

  /** The runs under way whose signal has not fired. */
  running(): Begun[] {
    return this.all.filter(
      ({ what, isOver, process, signal }) =>
        what === 'agent' && !isOver && !process.isDead && signal?.aborted === false,
    );
  }

  /** Whether no agent and no plugin of a living server is at work. */
  get isQuiet(): boolean {
    return this.all.every(
      ({ isOver, process, at }) => isOver || process.isDead || this.#world.now - at > LEFT_MS,
    );
  }
}

/** What pages and servers have told. */
export class Journal {
  readonly asked: Asked[] = [];
  /** When a server has deleted the session. */
  readonly deletions: number[] = [];
  /** What a page has cancelled or discarded; without an id, whatever waits there. */
  readonly cancels: {
    readonly page: number;
    readonly at: number;
    readonly id?: string | undefined;
  }[] = [];
  /** The calls that may end a run. */
  readonly causes: {
    readonly page: number;
    readonly at: number;
    readonly kind: string;
    readonly label: string;
    ended: number;
  }[] = [];
  /** The messages of a cache that its remote has refused, and the user has dropped. */
  readonly dropped = new Set<string>();
  /** The process that has stored an event. */
  readonly writers = new Map<string, Actor>();
  #moment = 0;

  /** The present moment, later than all moments before. */
  moment(now: number): number {
    return (this.#moment = Math.max(now, this.#moment + 1e-6));
  }

  /**
   * Whether the queue of a page without a cache may stand still: since its last call that asks, a run of its own has failed or
   * was cancelled, and the page had not cancelled it before.
   *
   * @param resumed when it has asked or sent again last
   */
  mayPause(page: number, resumed: number, begins: Begins): boolean {
    const maySince = (at: number): boolean => {
      const causes = this.causes.filter((cause) => cause.at > at - CANCEL_MS && cause.at <= at);
      const isOwn = causes.every((cause) => cause.page === page && cause.kind === 'cancel');
      const last = causes.at(-1);
      return (isOwn && last !== undefined ? last.at : at + TOLD_MS) >= resumed;
    };
    const own = this.asked.filter((asked) => asked.page === page);
    return own.some(({ state, began, ended, id }) => {
      if (state === 'rejected') return ended >= resumed;
      if (state === 'cancelled') return maySince(ended);
      const mayHaveFailed = (begins.failed.get(id ?? '') ?? -Infinity) + TOLD_MS >= resumed;
      if (begins.has(id)) {
        const aborted = begins.abortedAt(id!);
        return aborted === Infinity ? mayHaveFailed : maySince(aborted + ABORT_MS);
      }
      // Its run may have been cancelled before its agent began.
      const cancel = this.causes.findLast(({ kind, at }) => kind === 'cancel' && at >= began);
      // A rewind of the other page's cache may come much later, and undo it before its agent begins.
      const isUndone = this.causes.some((cause) => cause.page !== page && REWINDING.includes(cause.kind)); // prettier-ignore
      return mayHaveFailed || isUndone || (cancel !== undefined && maySince(cancel.at));
    });
  }

  /** Whether a message that was acknowledged may be missing. */
  mayBeMissing(asked: Asked, events: readonly Event[]): boolean {
    const { id, page, isCached, began, callId } = asked;
    if (this.deletions.some((at) => at >= began)) return true;
    if (!isCached) return false;
    // Another device was first.
    if (events.some((event) => event.author === 'user' && answersOf(event).includes(callId)))
      return true;
    const versions = this.#versionsUpTo(asked);
    const isGivenUp = this.cancels.some(
      (cancel) => cancel.at >= began && (versions.includes(cancel.id) || (cancel.page === page && cancel.id === undefined)), // prettier-ignore
    );
    return isGivenUp || this.dropped.has(id!);
  }

  /** The ids of a message and of those that it has replaced: who gives one of them up gives up what replaces it. */
  #versionsUpTo({ id, replaced }: Asked): (string | undefined)[] {
    const before = replaced === undefined ? undefined : this.asked.find((other) => other.id === replaced); // prettier-ignore
    return [id, ...(before === undefined ? [replaced] : this.#versionsUpTo(before))].filter(
      (version) => version !== undefined,
    );
  }

  /**
   * Checks the stored events.
   *
   * @param isOneProcess whether all servers share what a process knows
   * @returns what is wrong
   */
  check(events: readonly Event[], isOneProcess: boolean, begins: Begins): string | undefined {
    for (const asked of this.asked) {
      if (asked.state !== 'acknowledged') continue;
      const count = events.filter(({ id }) => id === asked.id).length;
      if (count > 1) return `${asked.label} is stored ${count} times`;
      if (count === 0 && !this.mayBeMissing(asked, events)) return `${asked.label} was acknowledged, and is not stored`; // prettier-ignore
    }
    const ended = begins.all.find((begun) => this.#isEndedByNobody(begun));
    if (ended !== undefined) return `nobody has ended the run of ${nameOf(ended.message)}`;
    return events.map((_, at) => this.#behind(events, at, isOneProcess)).find(Boolean);
  }

  /** Whether a run was cancelled although no call of a page could do so, and its time was not over. */
  #isEndedByNobody({ message, abortedAt, at }: Begun): boolean {
    const own = this.asked.find(({ id }) => id === message.id);
    if (own === undefined || abortedAt === Infinity || abortedAt - at >= MAX_RUN_MS - BEGIN_MS)
      return false;
    return !this.causes.some((cause) => {
      if (cause.at > abortedAt + 1 || cause.label === own.label) return false;
      return cause.page !== own.page || own.isCached || cause.ended > own.began;
    });
  }

  /** Finds an event behind the end event or the rewind of its run, of the process that has stored that. */
  #behind(events: readonly Event[], at: number, isOneProcess: boolean): string | undefined {
    const end = events[at]!;
    const target = rewindTargetOf(end);
    const cut = target === undefined ? at : events.findIndex(({ invocationId }) => invocationId === target); // prettier-ignore
    if (cut < 0 || (target === undefined && !isAbort(end))) return undefined;
    // A run is undone if its message is.
    const undone = events.slice(cut, at).filter(({ author }) => author === 'user');
    const ended = new Set((target === undefined ? [end] : undone).map(({ invocationId }) => invocationId)); // prettier-ignore
    const late = events.slice(at + 1).find((event) => {
      if (event.author === 'user' || !ended.has(event.invocationId)) return false;
      // A rewind that leaves the message of a run has its texts and its end event behind it.
      if (isAbort(event) || event.interrupted === true) return false;
      if (target !== undefined && isShownAgain(events, event, at)) return false;
      const writer = this.writers.get(event.id);
      return isOneProcess || (writer !== undefined && writer === this.writers.get(end.id));
    });
    if (late === undefined) return undefined;
    return `${nameOf(late)} stands behind ${target ? 'the rewind that undoes' : 'the end event of'} its run`;
  }
}

/** Whether a rewind into what the one at `at` has undone shows the message of an event's run again. */
function isShownAgain(events: readonly Event[], event: Event, at: number): boolean {
  const isOfRun = ({ author, invocationId }: Event): boolean =>
    author === 'user' && invocationId === event.invocationId;
  const message = events.findIndex(isOfRun);
  return events.slice(at + 1, events.indexOf(event)).some((later) => {
    const target = rewindTargetOf(later);
    const cut = events.findIndex(({ invocationId }) => invocationId === target);
    return target !== undefined && cut > message && cut < at;
  });
}

/** The calls that an event answers. */
function answersOf({ content }: Event): readonly unknown[] {
  return content?.parts?.flatMap(({ functionResponse }) => functionResponse?.id ?? []) ?? [];
}

/** An event as a failure names it. */
export function nameOf({
  id,
  invocationId,
  author,
  content,
  partial,
  errorCode,
  ...rest
}: Event): string {
  const parts = content?.parts?.map(({ text, functionCall, functionResponse }) => text ?? functionCall?.id ?? functionResponse?.id); // prettier-ignore
  const kind = rewindTargetOf({ id, invocationId, ...rest }) ? 'rewind' : (parts?.join('+') ?? errorCode ?? ''); // prettier-ignore
  return `${author} ${id.slice(0, 4)}/${invocationId.slice(-4)} "${kind}"${partial ? ' partial' : ''}`;
}
