// What was written, and the checks of what is read: nothing is lost, nothing is there twice, and the order is allowed.

import type { Event } from '../../../../js/index.js';
import { canonical, canonicalEvent } from '../../model/canonical.js';
import { storedText } from '../../model/events.js';
import type { EventSpec } from '../../operation.js';
import { markOf, UPDATE_KEY } from '../remote.js';
import type { Version, WrittenEvent } from '../script.js';

/** The id of the event's {@link WrittenEvent}. */
export function idOf({ id, actions }: Event): string {
  const update = actions.stateDelta[UPDATE_KEY];
  return typeof update === 'string' ? update : id;
}

export class Ledger {
  readonly #written = new Map<string, WrittenEvent>();
  /** The sessions that somebody has tried to delete, and the devices that did; `undefined`: another program. */
  readonly #deletions = new Map<string, Set<number | undefined>>();

  /**
   * Notes that somebody begins to write an event, or another version of it.
   *
   * @param step the present step
   * @param device `undefined`: another program, directly on the remote
   */
  begin(
    spec: EventSpec,
    session: string,
    step: number,
    device: number | undefined,
    kind: 'append' | 'update' | 'change' = 'append',
  ): Version {
    const { id } = spec;
    const writer = { session, device, isUpdate: kind === 'update' };
    const times = { beganAt: step, acknowledgedAt: undefined };
    const made = { id, versions: [], isGivenUp: false, ...writer, ...times };
    const event: WrittenEvent = this.#written.get(id) ?? made;
    const version: Version = { spec, event, isChange: kind === 'change', ...times };
    event.versions.push(version);
    this.#written.set(id, event);
    return version;
  }

  /** Notes that a write was acknowledged. */
  acknowledge(version: Version, step: number): void {
    if (version.event.isGivenUp) return;
    version.acknowledgedAt ??= step;
    version.event.acknowledgedAt ??= step;
  }

  /** The versions of the events of a session. */
  versionsOf(session: string): Version[] {
    const events = [...this.#written.values()];
    return events.filter((event) => event.session === session).flatMap(({ versions }) => versions);
  }

  /** The events that a device has tried to append to a session. */
  idsOf(session: string, device: number): string[] {
    const events = [...this.#written.values()];
    return events
      .filter((event) => event.session === session && event.device === device && !event.isUpdate)
      .map(({ id }) => id);
  }

  noteDeletion(session: string, device: number | undefined): void {
    const devices = this.#deletions.get(session) ?? new Set();
    this.#deletions.set(session, devices.add(device));
  }

  /** Notes that a tab drops an event. It, or an earlier version of it, may have been sent: nothing is certain of it. */
  giveUp(id: string): void {
    const event = this.#written.get(id);
    if (event === undefined) return;
    event.isGivenUp = true;
    for (const written of [event, ...event.versions]) written.acknowledgedAt = undefined;
  }

  isGivenUp(id: string): boolean {
    return this.#written.get(id)?.isGivenUp === true;
  }

  hasDeletion(session: string): boolean {
    return this.#deletions.has(session);
  }

  /**
   * Checks the events of a session that a tab has read.
   *
   * @param beganAt the step at which the read began
   * @param last the size of its window
   */
  checkRead(
    session: string,
    device: number | undefined,
    events: readonly Event[],
    beganAt: number,
    last?: number,
  ): void {
    const ids = events.map(idOf);
    requireEachOnce(ids, `session ${session} on device ${device}`);
    if (last !== undefined && ids.length > last)
      throw new Error(`a window of ${last} has ${ids.join()}`);
    for (const event of events) this.#requireWritten(event, session, beganAt === Infinity);
    this.#requireOrder(ids, session);
    if (last !== undefined || this.hasDeletion(session)) return;
    const shown = new Set(ids);
    for (const { id, ...written } of this.#written.values()) {
      const isOwn = written.session === session && written.device === device;
      const isKnown = (written.acknowledgedAt ?? Infinity) < beganAt;
      if (!isOwn || !isKnown || shown.has(id)) continue;
      throw new Error(
        `session ${session} on device ${device} lacks ${id}, which was acknowledged at step ${written.acknowledgedAt}; it has ${ids.join()}`,
      );
    }
  }

  /**
   * Checks that every acknowledged event has arrived at the remote once.
   *
   * @param arrivals how often the remote has stored an event as a new one
   */
  checkArrivals(arrivals: ReadonlyMap<string, number>): void {
    for (const { id, versions, session, device, acknowledgedAt } of this.#written.values()) {
      const mark = markOf(session, id);
      const count = arrivals.get(mark) ?? 0;
      if (count > 1 && versions.length === 1)
        throw new Error(`event ${mark} has arrived ${count} times`);
      if (count > 0 || acknowledgedAt === undefined) continue;
      if (this.#deletions.get(session)?.has(device) === true) continue;
      throw new Error(
        `event ${mark} was acknowledged at step ${acknowledgedAt}, and has neither arrived nor was it set aside`,
      );
    }
  }

  /** @param isFinal whether everything is sent. Before, the remote may have a version without its delta */
  #requireWritten(event: Event, session: string, isFinal: boolean): void {
    const id = idOf(event);
    const written = this.#written.get(id);
    if (written?.session !== session) throw new Error(`nobody wrote event ${id} to ${session}`);
    const { versions, isUpdate } = written;
    if (isUpdate) return;
    const text = canonicalEvent(event);
    const texts = versions.map(({ spec }) => storedText(spec));
    const isPart = versions.length > 1 && !isFinal;
    if (isPart ? texts.map(contentOf).includes(contentOf(text)) : texts.includes(text)) return;
    throw new Error(`event ${id} is\n${text}\nand was written as\n${texts.join('\n')}`);
  }

  /** An event that began after another one was acknowledged comes behind it, if the writer of both is the same. */
  #requireOrder(ids: readonly string[], session: string): void {
    if (this.hasDeletion(session)) return;
    const written = ids.map((id) => this.#written.get(id)!);
    for (const [position, later] of written.entries()) {
      for (const earlier of written.slice(position + 1)) {
        // `earlier` is shown behind `later`.
        const isKnown = earlier.device === undefined;
        if (earlier.device !== later.device && !(isKnown && earlier.acknowledgedAt !== undefined))
          continue;
        if ((earlier.acknowledgedAt ?? Infinity) >= later.beganAt) continue;
        throw new Error(
          `${earlier.id} was acknowledged before ${later.id} began, and is behind it in ${session}: ${ids.join()}`,
        );
      }
    }
  }
}

/** The text of an event without its delta. */
function contentOf(text: string): string {
  const event = JSON.parse(text) as Event;
  event.actions.stateDelta = {};
  return canonical(event);
}

function requireEachOnce(ids: readonly string[], where: string): void {
  const twice = ids.find((id, position) => ids.indexOf(id) !== position);
  if (twice !== undefined) throw new Error(`${where} has ${twice} twice: ${ids.join()}`);
}
