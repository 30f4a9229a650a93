import type { TurnBranches } from '../../core/history/index.js';
import type { RunUnderWay, BranchesRead } from '../../core/history_types.js';
import { loadChunk } from '../../core/wasm/loader/chunk.js';
import { keepEqual } from '../../values/json/equal.js';
import type { AskedRun } from '../../values/model/asked_run.js';
import type { Event } from '../../values/model/event/event.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';

type BranchesRequest = CompositeSessionKey & Abortable & Pick<BranchesRead, 'fromEventId'>;

/** A change of the history. Most pages make none, so the first call loads the code. */
export type TurnChange<Result> = (
  service: SessionService,
  running?: () => RunUnderWay | undefined,
) => Promise<Result>;

export const loadTurns = () => loadChunk(() => import('../../core/history/turns.js'));

/** Edits a message, or, without `edited`, has its turn answered again. */
export function turnChange({
  edited,
  ...request
}: CompositeSessionKey & {
  readonly eventId: string;
  /** The new message. */
  readonly edited?: Event | undefined;
  readonly run?: AskedRun | undefined;
  readonly messageId: string;
}): TurnChange<Event> {
  return async (service, running) => {
    const { editTurn, regenerateTurn } = await loadTurns();
    if (edited === undefined) return regenerateTurn(service, { ...request, running });
    const { content = {}, customMetadata } = edited;
    return editTurn(service, {
      ...request,
      content,
      running,
      ...(customMetadata && { customMetadata }),
    });
  };
}

/** Shows another branch. */
export function branchChange(key: CompositeSessionKey, branch: string): TurnChange<unknown> {
  return async (service, running) =>
    (await loadTurns()).showBranch(service, { ...key, branch, running });
}

/** The branches of a session, which are read only when they may have changed. */
export class KnownBranches {
  #reading: Promise<readonly TurnBranches[]> | undefined;
  #known: readonly TurnBranches[] = [];

  /** @param request the session, or also the event from which on branches are wanted */
  read(service: SessionService, request: BranchesRequest): Promise<readonly TurnBranches[]> {
    const read = async (): Promise<readonly TurnBranches[]> => {
      const { readBranches } = await loadTurns();
      const { places } = await readBranches(service, request);
      return (this.#known = keepEqual(this.#known, places));
    };
    const reading = (this.#reading ??= read());
    reading.catch(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    return reading;
  }

  /** Notes that they may have changed. */
  forget(): void {
    this.#reading = undefined;
  }

  /**
   * Notes an appended event. It adds an alternative only if undone turns stand at the end. Returns whether the branches
   * may have changed.
   */
  noteAppended({ invocationId }: Event, last: Event | undefined): boolean {
    const isOpen = this.#known.at(-1)?.alternatives.every(({ isShown }) => !isShown) === true;
    const isAlternative = isOpen && invocationId !== last?.invocationId;
    if (isAlternative) this.forget();
    return isAlternative;
  }
}
