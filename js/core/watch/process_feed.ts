/** The feed of a storage that several server processes share, and the option that connects them. */
import { invalid } from '../../values/errors/invalid.js';
import {
  requireBoolean,
  requireFunction,
  requireObject,
} from '../../values/errors/option_values.js';
import { isObject } from '../../values/json/rules.js';
import type { ChannelOptions, OpenChannel, OwnChannel } from './open_channel.js';
import { isId } from '../../values/model/values/ids.js';
import { NARROWEST_FIRST } from '../../values/state/scope.js';
import { isRevision } from '../storage/checked_rows.js';
import { Feed } from './feed.js';
import { type ChannelSettings, ProcessHost } from './process_channel.js';
import type { ProcessLink } from './process_link.js';
import { stateKey, type WrittenState } from './state_revisions.js';
import { TabChannel, type TabKind, type TabListener, type TabPort } from './tab_channel.js';

const SECRET = /^[0-9a-f]{32}$/;

/** What the option `channel` says. */
type TakenChannel = Pick<ChannelSettings, 'open' | 'tellsDrafts'>;

/** Takes the option `channel` of a service. @throws SessionError `invalid_argument` */
export function takeChannel(channel: unknown): TakenChannel {
  if (typeof channel !== 'object') {
    requireFunction('channel', channel);
    return { open: channel as OpenChannel, tellsDrafts: true };
  }
  requireObject('channel', channel);
  const { open, drafts = true } = channel as ChannelOptions;
  requireFunction('channel.open', open);
  requireBoolean('channel.drafts', drafts);
  return { open, tellsDrafts: drafts };
}

/** Takes the option `channel` of a service over a storage of the user's own. @throws SessionError `invalid_argument` */
export function takeOwnChannel(channel: unknown): TakenChannel & Pick<OwnChannel, 'secret'> {
  requireObject('channel', channel);
  const { secret } = channel as OwnChannel;
  // The message does not show it: a text that is wrong may be a secret too.
  if (typeof (secret as unknown) !== 'string' || !SECRET.test(secret)) {
    throw invalid('channel.secret', 'must be 32 hexadecimal digits');
  }
  return { ...takeChannel(channel), secret };
}

/**
 * Tells the revisions of shared states. A notice of a state has none, so a process that asks the storage for changes could
 * not know whether it was told of one.
 */
const STATE_MESSAGES: TabKind<WrittenState> = {
  name: 'states',

  decode(value) {
    if (!isObject(value)) return undefined;
    const { appName, userId, revision } = value;
    const scope = NARROWEST_FIRST.find((each) => each === value.scope);
    if (scope === undefined || !isId(appName) || !isRevision(revision)) return undefined;
    if (scope === 'app') return { scope, appName, revision };
    return isId(userId) ? { scope, appName, userId, revision } : undefined;
  },

  /** Keeps the last write of each state. */
  merge(states) {
    return [...new Map(states.map((state) => [stateKey(state.scope, state), state])).values()];
  },
};

/** A feed whose channel connects processes. Pages of these processes have no runs and no locks on it. */
export class ProcessFeed extends Feed implements ProcessLink {
  override readonly channelName = undefined;
  readonly tellsDrafts: boolean;
  readonly #host: ProcessHost;
  readonly #channel: TabChannel;
  readonly #ports: TabPort<unknown>[] = [];
  readonly #releaseListeners: (() => void)[] = [];
  readonly #states: TabPort<WrittenState>;

  constructor(settings: ChannelSettings) {
    const host = new ProcessHost(settings);
    const channel = new TabChannel('processes', host);
    super(channel);
    this.tellsDrafts = settings.tellsDrafts;
    this.#host = host;
    this.#channel = channel;
    this.#states = channel.port(STATE_MESSAGES, {
      deliver: (states) => states.forEach((state) => this.stateRevisions.noteOther(state)),
      missed: () => undefined,
    });
  }

  override get processes(): this {
    return this;
  }

  port<Message>(kind: TabKind<Message>, listener: TabListener<Message>): TabPort<Message> {
    const port = this.#channel.port(kind, listener);
    this.#ports.push(port);
    port.start();
    return port;
  }

  onRelease(run: () => void): void {
    this.#releaseListeners.push(run);
  }

  listening(): (wasHeard: boolean) => boolean {
    return this.#host.listening();
  }

  override sent(): Promise<void> | undefined {
    this.#channel.flush();
    return this.#host.opened;
  }

  override noteState(state: WrittenState): void {
    super.noteState(state);
    this.#states.send([state]);
  }

  override retain(): void {
    this.#states.start();
    super.retain();
  }

  override release(): void {
    super.release();
    if (this.isUsed) return;
    for (const run of this.#releaseListeners.splice(0)) run();
    for (const port of this.#ports.splice(0)) port.close();
    this.#states.close();
  }

  protected override listen(isListening: boolean): void {
    // The revisions first: the messages go to the ports in the order of their kinds.
    this.#states.listen(isListening);
    super.listen(isListening);
  }
}
