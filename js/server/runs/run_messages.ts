/** What processes tell each other of their runs. */
import type { RunChange, RunReport } from '../../core/run_report.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import type { StateOwner } from '../../core/storage/scopes.js';
import type { TabKind } from '../../core/watch/tab_channel.js';
import { isObject } from '../../values/json/rules.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { isId, keyText } from '../../values/model/values/ids.js';

/** The message of a user whose run is asked for. */
export type AskedRun = CompositeSessionKey & Pick<RunReport, 'messageId'>;

/** A message of one start of a process. */
export type RunMessage = {
  /** The start of the process that sends it. */
  readonly from: string;
} & (
  | {
      /** A run as it is now, or what has changed since the report of the step before. */
      readonly type: 'run';
      /** Counts from 1 at the beginning of each run. */
      readonly step: number;
      readonly run: RunReport | RunChange;
    }
  | {
      /** Asks one process, or all, for their runs as they are now. */
      readonly type: 'tell';
      readonly to?: string | undefined;
    }
  | {
      /** Users whose feeds are open at the sender, which may be new. So the sender is there, also if it has none. */
      readonly type: 'feeds';
      readonly owners: readonly Required<StateOwner>[];
      readonly areNew: boolean;
    }
  | {
      /** Asks a process which of these messages it runs. */
      readonly type: 'ask';
      readonly id: string;
      readonly to: string;
      readonly runs: readonly AskedRun[];
    }
  | {
      readonly type: 'answer';
      readonly id: string;
      /** For each message whether it is run, in the order of the question. */
      readonly areRunning: readonly boolean[];
    }
  | {
      /** Asks a process for the report of a run that a rewind is to end. */
      readonly type: 'report';
      readonly id: string;
      readonly to: string;
      readonly run: AskedRun;
    }
  | {
      readonly type: 'reported';
      readonly id: string;
      /** The run as it is now, with its drafts if they may be told. Absent: it is over. */
      readonly run?: RunReport | undefined;
    }
  | {
      /** Asks all to stop the run of a session, or of one message. */
      readonly type: 'stop';
      readonly id: string;
      /** The start that has told the run, and answers also if it has none. The others answer if they had one. */
      readonly to?: string | undefined;
      readonly key: CompositeSessionKey;
      readonly messageId?: string | undefined;
      /** `rewound`: the run is undone, so its end is not stored. */
      readonly reason: 'cancelled' | 'rewound';
    }
  | { readonly type: 'stopped'; readonly id: string; readonly wasRunning: boolean }
  | {
      /** The runs of the sender are over. */
      readonly type: 'closed';
    }
);

/** A message that answers a question. */
export type RunAnswer = RunMessage & { readonly type: 'answer' | 'reported' | 'stopped' };

/** The contents of a message without its sender. */
export type RunContents = RunMessage extends infer Message
  ? Message extends RunMessage
    ? Omit<Message, 'from'>
    : never
  : never;

type Fields = Readonly<Record<string, unknown>>;

const isOptionalId = (value: unknown): boolean => value === undefined || isId(value);

/** Checks the members of a message of each type. */
const IS_VALID: Readonly<Record<RunMessage['type'], (fields: Fields) => boolean>> = {
  // `reportIn` checks the rest of the report.
  run: ({ step, run }) => isRevision(step) && isKey(run),
  tell: ({ to }) => isOptionalId(to),
  feeds: ({ owners, areNew }) =>
    Array.isArray(owners) &&
    owners.every((owner) => isObject(owner) && isId(owner.appName) && isId(owner.userId)) &&
    typeof areNew === 'boolean',
  ask: ({ id, to, runs }) => isId(id) && isId(to) && Array.isArray(runs) && runs.every(isAskedRun),
  answer: ({ id, areRunning }) =>
    isId(id) &&
    Array.isArray(areRunning) &&
    areRunning.every((isRunning) => typeof isRunning === 'boolean'),
  report: ({ id, to, run }) => isId(id) && isId(to) && isAskedRun(run),
  // `reportIn` checks the rest of the report.
  reported: ({ id, run }) => isId(id) && (run === undefined || isKey(run)),
  stop: ({ id, to, key, messageId, reason }) =>
    isId(id) &&
    isOptionalId(to) &&
    isKey(key) &&
    isOptionalId(messageId) &&
    (reason === 'cancelled' || reason === 'rewound'),
  stopped: ({ id, wasRunning }) => isId(id) && typeof wasRunning === 'boolean',
  closed: () => true,
};

export const RUN_MESSAGES: TabKind<RunMessage> = {
  name: 'processRuns',

  /** Drops the reports of a run before its last whole one. */
  merge(messages) {
    const whole = new Set<string>();
    const newestFirst = [...messages].reverse().filter((message) => {
      if (message.type !== 'run') return true;
      const { run } = message;
      const name = JSON.stringify([keyText(run), run.messageId]);
      if (whole.has(name)) return false;
      if ('drafts' in run) whole.add(name);
      return true;
    });
    return newestFirst.reverse();
  },

  decode(value) {
    if (!isObject(value) || !isId(value.from)) return undefined;
    const { type } = value;
    if (typeof type !== 'string' || !Object.hasOwn(IS_VALID, type)) return undefined;
    const isValid = IS_VALID[type as RunMessage['type']](value);
    return isValid ? (value as unknown as RunMessage) : undefined;
  },
};

function isAskedRun(value: unknown): boolean {
  return isKey(value) && isId(value.messageId);
}

function isKey(value: unknown): value is Fields {
  return isObject(value) && isId(value.appName) && isId(value.userId) && isId(value.sessionId);
}
