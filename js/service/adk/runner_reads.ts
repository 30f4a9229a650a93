import { invalid } from '../../values/errors/invalid.js';
import { optionalCount, requireFunction, requireOneOf } from '../../values/errors/option_values.js';
import type { Event } from '../../values/model/event/event.js';
import type { GetSessionConfig, GetSessionRequest, Session } from '../../values/model/session.js';
import { HISTORY_VIEWS, type HistoryView } from '../../values/model/values/read_options.js';
import type { MessageFile } from '../../values/model/event/message_files.js';
import type { Plan } from '../../core/storage/reads/read_plan.js';
import { readBack } from '../read/window.js';

/** The options of what a `Runner` reads, which all services for the framework take. */
export interface RunnerReadOptions {
  /**
   * The view of the sessions that the runner reads. Default `'model'`: it does not get what was rewound, and gets the
   * summaries of compactions that Python made. A read may name another one in its `config`.
   */
  view?: HistoryView | undefined;
  /**
   * The number of last events of the view for models that the runner reads, a whole number from 0 up. Default: all.
   * With it a turn costs the same however long the conversation is; the model sees no earlier events either. A read
   * that has `config.numRecentEvents` or `config.afterTimestamp` gets what these say.
   *
   * Earlier events come with them back to a message of the user, so that no turn is cut. If an agent runs by itself for
   * long, these are all events since the last message. The read reaches further back if
   * - a function's response would otherwise lack its call;
   * - a workflow has stopped for an answer, which the next message may be;
   * - a summary of the framework's compactor is followed by events that it does not cover.
   *
   * An appended answer may belong to an earlier call. The append then adds the events from that call on to the handle
   * before it resolves. If that read fails, the append still resolves, and the next append through the handle tries
   * again.
   */
  numRecentEvents?: number | undefined;
  /**
   * Which files of messages the model gets with them: a function that chooses a file of `filesOf`, or `false` for none.
   * Default: all that a model takes, up to 15 MiB in a turn. The others stay the texts that stand for them.
   */
  modelFiles?: false | ((file: MessageFile) => boolean) | undefined;
}

/** What a `Runner` gets of the sessions that it reads. */
export class RunnerReads {
  readonly #view: HistoryView;
  readonly #numRecentEvents: number | undefined;
  readonly modelFiles: NonNullable<RunnerReadOptions['modelFiles']>;

  /** @throws SessionError `invalid_argument` if an option is invalid */
  constructor({ view = 'model', numRecentEvents, modelFiles = () => true }: RunnerReadOptions) {
    if (modelFiles !== false) requireFunction('modelFiles', modelFiles);
    this.modelFiles = modelFiles;
    this.#view = requireOneOf('view', view, HISTORY_VIEWS);
    this.#numRecentEvents = optionalCount('numRecentEvents', numRecentEvents);
    if (this.#numRecentEvents === undefined || view === 'model') return;
    throw invalid('numRecentEvents', "needs the view 'model': only its windows suit a model");
  }

  /**
   * Plans the reads of a session: as the request says, and by the options where it says nothing.
   *
   * @param messageId an event that the window must have
   */
  *plan<Request extends object>(
    request: Request,
    messageId?: string,
  ): Plan<Request, Session | undefined, Session | undefined> {
    const config = configOf(request);
    if (config === undefined) return yield request;
    const { view = this.#view, numRecentEvents, afterTimestamp, skipCorrupt } = config;
    const withConfig = (more: GetSessionConfig): Request => ({
      ...request,
      config: { ...config, ...more },
    });
    const count = this.#numRecentEvents;
    const hasWindow = numRecentEvents !== undefined || afterTimestamp !== undefined;
    if (count === undefined || hasWindow || view !== 'model') {
      return yield config.view === undefined ? withConfig({ view }) : request;
    }
    const latestStart = (events: readonly Event[]): number => {
      const last = events.length - count;
      return messageId === undefined
        ? last
        : Math.min(
            last,
            events.findLastIndex(({ id }) => id === messageId),
          );
    };
    const plan = readBack(skipCorrupt === true, count, latestStart);
    let step = plan.next();
    while (step.done !== true) {
      step = plan.next(yield withConfig({ view, numRecentEvents: step.value }));
    }
    return step.value;
  }
}

/** Returns the config of a read request; `undefined` if the service has to say why it cannot be read. */
function configOf(request: object): GetSessionConfig | undefined {
  try {
    const { config } = request as Pick<GetSessionRequest, 'config'>;
    if (config === undefined || config === null) return {};
    return typeof config === 'object' ? { ...config } : undefined;
  } catch {
    return undefined;
  }
}
