import type { OpenChannel, ProcessChannel } from '../../../../js/index.js';

/** What a channel of a hub is. */
interface HubOptions {
  /** Returns each text to its sender too, as PostgreSQL and Redis do. */
  readonly echoes?: boolean;
  /** Gives the channels the member `onmissed`. */
  readonly tellsMissed?: boolean;
}

/** Connects processes in memory, and loses or changes texts as a test wants. */
export class Hub {
  readonly #options: HubOptions;
  readonly #channels = new Map<ProcessChannel, string>();
  /** The names that were opened, and all texts, in order. */
  readonly names: string[] = [];
  readonly texts: string[] = [];
  /** Whether texts are lost now. */
  isCut = false;

  constructor(options: HubOptions = { tellsMissed: true }) {
    this.#options = options;
  }

  get channels(): readonly ProcessChannel[] {
    return [...this.#channels.keys()];
  }

  readonly open: OpenChannel = (name) => {
    this.names.push(name);
    const channel: ProcessChannel = {
      onmessage: null,
      postMessage: (text) => {
        this.texts.push(text);
        if (!this.isCut) this.deliver(name, text, channel);
      },
      close: () => this.#channels.delete(channel),
      ...(this.#options.tellsMissed === true && { onmissed: null }),
    };
    this.#channels.set(channel, name);
    return channel;
  };

  /** Delivers a text to all channels of a name, but to its sender only as an echo. */
  deliver(name: string | undefined, text: unknown, sender?: ProcessChannel): void {
    for (const [channel, other] of this.#channels) {
      if (channel === sender && this.#options.echoes !== true) continue;
      if (other === name) channel.onmessage?.({ data: text });
    }
  }
}
