// The script of a worker of any kind: performs a task, and responds by the port of the message.

import { type Task, work } from './task.js';

async function onQuestion({ data, ports }: MessageEvent<Task>): Promise<void> {
  try {
    ports[0]?.postMessage({ done: await work(data) });
  } catch (error) {
    ports[0]?.postMessage({ error: String(error) });
  }
}

/** Dedicated and service workers; a service worker may be ended while nothing keeps it. */
addEventListener('message', (event: MessageEvent<Task> & { waitUntil?(work: unknown): void }) => {
  const answered = onQuestion(event);
  event.waitUntil?.(answered);
});

/** Shared workers. */
addEventListener('connect', (event) => {
  const port = (event as MessageEvent).ports[0];
  if (port) port.onmessage = (question: MessageEvent<Task>) => void onQuestion(question);
});
