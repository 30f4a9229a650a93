/**
 * Connects processes by Redis: `new DatabaseSessionService(url, { channel: redisChannel(publisher, subscriber) })`, with two
 * clients of `ioredis` or `redis`, since one that subscribes takes no other commands. They stay yours to close.
 */
import type { OpenChannel, ProcessChannel } from 'adk-session-wasm';

/** The part of the clients of `ioredis` and of `redis` that is used. */
interface Client {
  publish(name: string, text: string): Promise<unknown>;
  subscribe(name: string, listener: (text: unknown) => unknown): Promise<unknown>;
  unsubscribe(name: string): Promise<unknown>;
  on(event: 'message' | 'ready', listener: (name: string, text: string) => unknown): unknown;
  off(event: 'message' | 'ready', listener: (name: string, text: string) => unknown): unknown;
}

export function redisChannel(publisher: Client, subscriber: Client): OpenChannel {
  return (name) => {
    // `ioredis` has an event for all names, and calls the listener with an error or null.
    const hear = (data: unknown) => typeof data === 'string' && channel.onmessage?.({ data });
    const hearEvent = (of: string, text: string) => of === name && hear(text);
    const fail = (error: unknown) => channel.onfailure?.(error);
    // Also after each new connection: what was published meanwhile is lost.
    const subscribe = () => subscriber.subscribe(name, hear).then(() => channel.onmissed?.(), fail);
    const channel: ProcessChannel = {
      onmessage: null,
      onmissed: null,
      onfailure: null,
      postMessage: (text) => publisher.publish(name, text),
      close() {
        subscriber.off('message', hearEvent);
        subscriber.off('ready', subscribe);
        return subscriber.unsubscribe(name).catch(() => undefined);
      },
    };
    subscriber.on('message', hearEvent);
    subscriber.on('ready', subscribe);
    void subscribe();
    return channel;
  };
}
