// What tabs have written, what the server has accepted, and what must hold of both in the end.

/** A write of one value: an event's text, a title, a label, or a key of a state. */
export interface NewWrite {
  /** Names what the value is of. */
  readonly register: string;
  readonly value: string;
  /** The session that is written, absent for the state of a user or an app. */
  readonly session?: string | undefined;
  readonly eventId?: string | undefined;
  /** Whether the server may do without it: the initial state of a session that it already has, or a write to one that it lacks. */
  readonly isOptional?: boolean;
  /** Whether it makes the event. */
  readonly isNew?: boolean;
  /** Whether the server may refuse it, so that a deletion of the session drops it. */
  readonly mayBeRefused?: boolean;
  /** The call that it answers: of several answers, the server takes one. */
  readonly answers?: string;
  /** The value that it was computed from. */
  readonly base?: { readonly value: string | undefined };
}

export interface Write extends NewWrite {
  readonly device: number;
  readonly owner: string;
  readonly began: number;
  /** When it was acknowledged; `Infinity`: not yet. */
  ended: number;
  /** Whether it may be missing: it was refused and dropped, or its local store is lost. */
  isGivenUp: boolean;
  /** Whether it was sent again after a refusal, and so perhaps behind later ones. */
  isMoved: boolean;
  /** Whether its device has forgotten it. Offline, a read there lacks it. */
  isForgotten: boolean;
}

interface Deletion {
  /** A session, or the `user:` keys of a user. */
  readonly what: string;
  readonly device: number;
  readonly began: number;
  ended: number;
}

/** The device of the server's own agent. */
export const SERVER = -1;

const SHARED = /^(user|app):/;

export class Journal {
  readonly writes: Write[] = [];
  readonly #deletions: Deletion[] = [];
  /** Whether an answer may refuse any write, so that a deletion of its session drops the write. */
  refusesAny = false;
  /** The devices and sessions of which something was dropped, perhaps the creation. */
  readonly dropped = new Set<string>();
  /** The ids of the events that were dropped, those of `updateState` too. */
  readonly droppedEvents = new Set<string>();
  /** The sessions that something was written to which needs a session, while the server had none. */
  readonly missing = new Set<string>();
  /** The ids of the events that were refused, or have waited for a refused one, and came behind others. */
  readonly movedEvents = new Set<string>();
  /** The sessions whose last rewind somebody undoes. Another rewind may come between. */
  readonly undone = new Set<string>();
  /** The sessions that somebody rewinds. */
  readonly rewound = new Set<string>();
  /** The oldest event that each session has had at the server, whatever was deleted since. */
  readonly oldest = new Map<string, string>();
  /** The values of each register in the order in which the server has accepted them. */
  readonly #accepted = new Map<string, string[]>();
  #time = 0;

  /** The present moment, later than all that has ended. */
  now(): number {
    return (this.#time += 1);
  }

  begin(device: number, owner: string, writes: readonly NewWrite[], began = this.now()): Write[] {
    const common = {
      device,
      owner,
      began,
      ended: Infinity,
      isGivenUp: false,
      isMoved: false,
      isForgotten: false,
    };
    const begun = writes.map((write) => ({ ...write, ...common }));
    this.writes.push(...begun);
    return begun;
  }

  beginDeletion(device: number, ...what: string[]): Deletion[] {
    const began = this.now();
    const begun = what.map((what) => ({ what, device, began, ended: Infinity }));
    this.#deletions.push(...begun);
    return begun;
  }

  end(ending: readonly { ended: number }[]): void {
    const ended = this.now();
    for (const each of ending) each.ended = ended;
  }

  hasDeletion(session: string): boolean {
    return this.#deletions.some(({ what }) => what === session);
  }

  /** Whether the server may refuse for good what was written: an edit or a text of its own, or any write by an answer. */
  explainsRefusal(session: string, eventId: string | undefined, code: string): boolean {
    if (this.refusesAny) return true;
    // The place of a rewind may be an event that was dropped.
    if (code === 'not_found') {
      return this.hasDeletion(session) || this.droppedEvents.size > 0 || this.missing.has(session);
    }
    // A call "through" rejects, and does not tell the id of its event.
    if (code === 'stale_session' && this.undone.has(session)) return true;
    // A rewind of another device has undone the first event of its invocation before it came.
    const isOfUndone = this.rewound.has(session) && this.#isContinued(session, eventId);
    if (code === 'stale_session' && isOfUndone) return true;
    return this.writes.some(
      (write) =>
        write.session === session && write.eventId === eventId && write.mayBeRefused === true,
    );
  }

  /** Whether an event continues the invocation of an accepted one: those of an append have the ids `e7.0`, `e7.1`. */
  #isContinued(session: string, eventId = ''): boolean {
    const [append, place = '0'] = eventId.split('.');
    return place !== '0' && this.#accepted.has(`${session} ${append}.0`);
  }

  /** Whether a session may have shown an event that the server refuses. */
  mayShowRefused(session: string): boolean {
    return this.writes.some(
      (write) =>
        write.session === session && write.mayBeRefused === true && !this.#isAccepted(write),
    );
  }

  /** Notes the value that the server has now. */
  accept(register: string, value: string): void {
    const values = this.#accepted.get(register) ?? [];
    this.#accepted.set(register, values);
    if (values.at(-1) !== value) values.push(value);
  }

  #isAccepted({ register, value }: Write): boolean {
    return this.#accepted.get(register)?.includes(value) === true;
  }

  /** Whether the server has accepted the write, or a later one of the same device to the same register. */
  isReplaced(write: Write): boolean {
    return this.#rivalsOf(write).some(
      (other) => other.ended >= write.began && this.#isAccepted(other),
    );
  }

  /** Gives up what the server has not accepted. */
  giveUp(isConcerned: (write: Write) => boolean): void {
    for (const write of this.writes) {
      if (isConcerned(write) && !this.#isAccepted(write)) write.isGivenUp = true;
    }
  }

  /** The local store of a device has lost everything, or all that is an owner's. */
  forget(device: number, owner?: string): void {
    const isConcerned = (write: Write): boolean =>
      write.device === device && (owner ?? write.owner) === write.owner;
    for (const write of this.writes) write.isForgotten ||= isConcerned(write);
    this.giveUp(isConcerned);
  }

  /** Whether an event was refused and dropped. The writes of `updateState` do not have the ids of its events. */
  isDropped(session: string, id: string): boolean {
    if (this.droppedEvents.has(id)) return true;
    const eventId = /^(e|probe)\d/.test(id) ? id : undefined;
    if (eventId === undefined && this.missing.has(session)) return true;
    return this.writes.some(
      (write) =>
        write.session === session &&
        write.eventId === eventId &&
        (write.isGivenUp || this.#isLateAnswer(write) || this.#isTakenBack(write)),
    );
  }

  /** Whether it needed a session, and the server had none. */
  #isTakenBack(write: Write): boolean {
    return write.isOptional === true && !this.#isAccepted(write);
  }

  /** Whether somebody may have deleted what the write has changed, so that it need not arrive. */
  isDeleted(write: Write): boolean {
    const { register, session, device: writer, owner, began, mayBeRefused } = write;
    const isSetAside = this.refusesAny || this.#isBehindRefused(write);
    return this.#deletions.some(({ what, device, ended }) => {
      // A deletion on the same device concerns what was there before.
      const isLater = device !== writer || ended >= began;
      if (what === `user:* of ${owner}`) return isLater && register.startsWith('user:');
      // The writer's deletion of a session keeps the values of shared keys.
      const isKept =
        SHARED.test(register) && device === writer && mayBeRefused !== true && !isSetAside;
      return what === session && isLater && !isKept;
    });
  }

  /**
   * Whether an earlier write to the same session may have been refused. A deletion of the user overtakes both. Both are
   * then set aside, and another deletion drops both.
   */
  #isBehindRefused({ session, device, owner, began }: Write): boolean {
    return this.writes.some(
      (other) =>
        other.session === session &&
        other.device === device &&
        other.owner === owner &&
        other.mayBeRefused === true &&
        other.began < began &&
        !this.#isAccepted(other),
    );
  }

  /** @returns a write that must be there and is not */
  check(): string | undefined {
    for (const write of this.writes) {
      const problem = this.#lossOf(write) ?? this.#disorderOf(write) ?? this.#overwriteOf(write);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /**
   * Checks the value from which a write is being computed: no older than what the device has last written.
   *
   * @returns what is wrong
   */
  checkBase({ register, device, owner, base }: Write): string | undefined {
    if (base === undefined) return undefined;
    const { value } = base;
    const accepted = this.#accepted.get(register) ?? [];
    const all = this.writes.filter((write) => write.register === register);
    const isKnown = value === undefined || accepted.includes(value) || all.some((write) => write.value === value); // prettier-ignore
    if (!isKnown) return `${register} is computed from ${value}, which nobody has written`;
    const own = all.filter((write) => write.device === device && write.owner === owner);
    const acknowledged = own.filter((write) => write.ended < Infinity && this.#mustStay(write));
    const began = Math.max(...acknowledged.map((write) => write.began));
    /** The last one, and those that may be later. */
    const lasts = own.filter((write) => write.ended >= began);
    if (acknowledged.length === 0 || lasts.some((write) => write.value === value)) return undefined;
    const places = lasts.filter((write) => this.#isAccepted(write)).map((write) => accepted.indexOf(write.value)); // prettier-ignore
    if (value !== undefined && accepted.lastIndexOf(value) > Math.min(...places)) return undefined;
    return `${register} is computed from ${value} after ${lasts[0]!.value} was written`;
  }

  /** Whether only a later write can replace it. */
  #mustStay(write: Write): boolean {
    const { isOptional = false, mayBeRefused = false, isGivenUp, isForgotten } = write;
    if (isOptional || mayBeRefused || this.refusesAny || isGivenUp || isForgotten) return false;
    return !this.isDeleted(write);
  }

  /** Two computed writes of one device have different values that they were computed from. */
  #overwriteOf(write: Write): string | undefined {
    if (write.base === undefined || write.ended === Infinity) return undefined;
    const other = this.#rivalsOf(write).find(
      ({ base, began, ended }) =>
        base?.value === write.base!.value && began > write.began && ended < Infinity,
    );
    if (other?.base === undefined || ![write, other].every((each) => this.#mustStay(each))) return undefined; // prettier-ignore
    return `${write.value} and ${other.value} of ${write.register} were both computed from ${write.base.value}`;
  }

  /** The writes of the same device to the same register. */
  #rivalsOf({ register, device, owner }: Write): Write[] {
    return this.writes.filter(
      (write) => write.register === register && write.device === device && write.owner === owner,
    );
  }

  /** Whether the server has taken another answer to the same call. */
  #isLateAnswer({ answers, eventId, ...write }: Write): boolean {
    const others = this.writes.filter((write) => write.answers === answers && write.eventId !== eventId); // prettier-ignore
    const isTaken = this.#accepted.has(write.register);
    return answers !== undefined && !isTaken && others.some((other) => this.#isAccepted(other));
  }

  #lossOf(write: Write): string | undefined {
    const { ended, isOptional, isGivenUp, register, value } = write;
    if (ended === Infinity || isOptional === true || isGivenUp) return undefined;
    if (this.#isLateAnswer(write)) return undefined;
    if (this.isDeleted(write) || this.isReplaced(write)) return undefined;
    return `${value} of ${register} was acknowledged and has never reached the server`;
  }

  /** Values of one device arrive in the order of its calls. */
  #disorderOf(write: Write): string | undefined {
    const values = this.#accepted.get(write.register) ?? [];
    const place = values.indexOf(write.value);
    if (place < 0) return undefined;
    // After a device has forgotten, it is another client.
    const late = this.#rivalsOf(write).find(
      ({ ended, value, isForgotten, isMoved, eventId = '' }) =>
        ended < write.began &&
        !isForgotten &&
        !isMoved &&
        !this.movedEvents.has(eventId) &&
        values.lastIndexOf(value) > place,
    );
    return late && `${late.value} of ${write.register} came after ${write.value}, which was written later: ${values.join()}`; // prettier-ignore
  }

  /**
   * Checks the ids of a session's events.
   *
   * @param reader absent: everything has arrived, and nothing may be missing
   */
  checkRead(
    session: string,
    ids: readonly string[],
    reader?: { readonly began: number; readonly device: number; readonly owner: string },
  ): string | undefined {
    const problem = this.checkOrder(session, ids);
    if (problem !== undefined) return problem;
    /** The writes that made the events. */
    const firsts = new Map<string, Write>();
    for (const write of this.writes) {
      if (write.isNew === true && write.session === session) firsts.set(write.eventId!, write);
    }
    for (const [id, write] of firsts) {
      const mayLack =
        write.isGivenUp ||
        this.isDeleted(write) ||
        this.#isLateAnswer(write) ||
        this.#isTakenBack(write);
      if (ids.includes(id) || mayLack) continue;
      const { began, device, owner } = reader ?? { ...write, began: Infinity };
      const isOwn = device === write.device && owner === write.owner;
      if (!isOwn || write.ended >= began || (reader && write.isForgotten)) continue;
      return `${session} lacks ${id}; it has ${ids.join()}`;
    }
    return undefined;
  }

  /** Events are there once, and those of one device in the order of its calls. */
  checkOrder(session: string, ids: readonly string[]): string | undefined {
    const twice = ids.find((id, place) => ids.indexOf(id) !== place);
    if (twice !== undefined) return `${session} has ${twice} twice: ${ids.join()}`;
    const last = new Map<string, Write>();
    for (const id of ids.toReversed()) {
      const made = this.writes.find(
        (write) => write.isNew === true && write.session === session && write.eventId === id,
      );
      // An event that was dropped, and is then written again, comes behind the others.
      // What was refused stands behind what was sent since.
      const isRefused =
        made !== undefined &&
        (made.mayBeRefused === true || this.refusesAny) &&
        !this.#isAccepted(made);
      const isMoved = isRefused || this.droppedEvents.has(id) || this.movedEvents.has(id);
      if (made === undefined || made.isForgotten || isMoved) continue;
      const writer = `${made.device} ${made.owner}`;
      const earlier = last.get(writer);
      if (earlier !== undefined && earlier.ended < made.began) {
        return `${session} has ${earlier.eventId} behind ${id}, which was written later: ${ids.join()}`;
      }
      if (earlier === undefined || made.ended < earlier.ended) last.set(writer, made);
    }
    return undefined;
  }
}
