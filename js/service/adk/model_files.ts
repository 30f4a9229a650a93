import { reportUncaught } from '../../core/call/diagnostics.js';
import { findArtifacts } from '../../core/core_of.js';
import type { ArtifactService, ArtifactVersionRequest } from '../../values/model/artifact.js';
import type { Event } from '../../values/model/event/event.js';
import type { Part } from '../../values/model/event/content.js';
import { filesOf, type MessageFile } from '../../values/model/event/message_files.js';
import type { HostBlob } from '../../values/model/host.js';
import type { Session } from '../../values/model/session.js';
import type { RunnerReads } from './runner_reads.js';
import { isTextType, modelTypeOf, textIn } from './model_types.js';

/** The most bytes of files that a model gets in one turn. A request of Gemini has at most 20 MB, base64 included. */
const MAX_TURN_BYTES = 15 * 2 ** 20;

/** The bytes that tell whether a file of any type is a text, before all of it is read. */
const HEAD_BYTES = 4096;

/** The files that the events of a handle have, for one turn. */
interface TurnFiles {
  /** The bytes of the files that were read, and of those that are being read, as far as their sizes are known. */
  bytes: number;
  readonly parts: Map<string, Promise<Part | undefined>>;
  readonly events: WeakSet<Event>;
}

/**
 * Gives the events of a handle the files of their messages, behind the texts that stand for them, so that the model sees
 * them. The events with files are copies: nothing of it is stored.
 *
 * The newest files come first, while there is room. A model gets the bytes of a type that it takes, and any other file as a
 * text if its bytes are one. A file without room, an empty one, an unreadable one and any other binary stay as their text.
 * The agent may load them with `LOAD_ARTIFACTS`.
 */
export class ModelFiles {
  /** Absent: the service has no files, and nobody waits for them. */
  readonly artifacts: Required<ArtifactService> | undefined;
  readonly #turns = new WeakMap<Session, TurnFiles>();

  readonly #isChosen: (file: MessageFile) => boolean;

  constructor(service: object, option: RunnerReads['modelFiles']) {
    this.artifacts = option === false ? undefined : findArtifacts(service);
    this.#isChosen = option || (() => false);
  }

  /** Gives the files to the events that have none yet. Never rejects. */
  async give(session: Session): Promise<void> {
    const { artifacts } = this;
    if (artifacts === undefined) return;
    const turn = this.#turns.get(session) ?? {
      bytes: 0,
      parts: new Map<string, Promise<Part | undefined>>(),
      events: new WeakSet(),
    };
    this.#turns.set(session, turn);
    const lacking: Promise<void>[] = [];
    for (const event of [...session.events].reverse()) {
      if (turn.events.has(event)) continue;
      const files = filesOf(event).filter((file) => this.#chooses(file));
      if (files.length === 0) continue;
      const parts: [MessageFile, Promise<Part | undefined>][] = [];
      for (const file of files.reverse()) {
        const part = partOf(artifacts, session, file, turn);
        parts.push([file, part]);
        // Only then it is known how much room older files have: without its size, or if it may be no text.
        if (file.size === undefined || modelTypeOf(file.mimeType) === undefined) await part;
      }
      lacking.push(putInto(session, event, parts, turn));
    }
    await Promise.all(lacking);
  }

  /** The event is stored, and the turn goes on: a function of the caller that throws chooses nothing. */
  #chooses(file: MessageFile): boolean {
    try {
      return this.#isChosen(file);
    } catch (error) {
      reportUncaught(error);
      return false;
    }
  }
}

/** Reads a file once in a turn. Never rejects. */
function partOf(
  artifacts: Required<ArtifactService>,
  { appName, userId, id: sessionId }: Session,
  { name: filename, version, mimeType, size = 0 }: MessageFile,
  turn: TurnFiles,
): Promise<Part | undefined> {
  const name = JSON.stringify([filename, version]);
  let part = turn.parts.get(name);
  if (part !== undefined) return part;
  if (turn.bytes + Math.max(size, 1) > MAX_TURN_BYTES) return Promise.resolve(undefined);
  turn.bytes += size;
  const request = { appName, userId, sessionId, filename, version };
  part = readPart(artifacts, request, mimeType)
    .catch(() => undefined)
    .then((file) => {
      // The message may tell no size, and another program may have stored any.
      const bytes = turn.bytes - size + (file?.bytes ?? 0);
      const fits = bytes <= MAX_TURN_BYTES;
      turn.bytes = fits ? bytes : turn.bytes - size;
      return fits ? file?.part : undefined;
    });
  turn.parts.set(name, part);
  return part;
}

/** A file that was read, and its size. */
interface ReadPart {
  readonly part: Part;
  readonly bytes: number;
}

async function readPart(
  artifacts: Required<ArtifactService>,
  request: ArtifactVersionRequest,
  told: string | undefined,
): Promise<ReadPart | undefined> {
  const mimeType = told ?? (await artifacts.getArtifactVersion(request))?.mimeType ?? '';
  return modelTypeOf(mimeType) === undefined
    ? readText(artifacts, request, mimeType)
    : readBytes(artifacts, request);
}

async function readText(
  artifacts: Required<ArtifactService>,
  request: ArtifactVersionRequest,
  mimeType: string,
): Promise<ReadPart | undefined> {
  if (!isTextType(mimeType)) {
    const head = await artifacts.open({ ...request, end: HEAD_BYTES });
    if (head === undefined) return undefined;
    const isWhole = head.size < HEAD_BYTES;
    if (textIn(await bytesIn(head), mimeType, isWhole) === undefined) return undefined;
  }
  const blob = await artifacts.open(request);
  const text = blob && textIn(await bytesIn(blob), mimeType);
  return text === undefined ? undefined : { part: { text }, bytes: blob!.size };
}

async function bytesIn(blob: HostBlob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer());
}

async function readBytes(
  artifacts: Required<ArtifactService>,
  request: ArtifactVersionRequest,
): Promise<ReadPart | undefined> {
  const part = await artifacts.loadArtifact(request);
  const { text = '', inlineData } = part ?? {};
  if (text !== '') return { part: { text }, bytes: text.length };
  const { data = '' } = inlineData ?? {};
  // Another program may have written the type that the message tells.
  const mimeType = modelTypeOf(inlineData?.mimeType);
  if (data === '' || mimeType === undefined) return undefined;
  const padding = data.indexOf('=', data.length - 2);
  const encoded = padding === -1 ? data.length : padding;
  const bytes = Math.floor(encoded * 0.75);
  return { part: { inlineData: { ...inlineData, mimeType } }, bytes };
}

/** Replaces an event of the handle by a copy with the parts of its files. */
async function putInto(
  session: Session,
  event: Event,
  parts: readonly (readonly [MessageFile, Promise<Part | undefined>])[],
  turn: TurnFiles,
): Promise<void> {
  const all: Part[] = [...event.content!.parts!];
  // From the last part on, so that the places of the others stay.
  for (const [file, reading] of parts) {
    const part = await reading;
    if (part !== undefined) all.splice(file.part + 1, 0, part);
  }
  const copy = { ...event, content: { ...event.content, parts: all } };
  turn.events.add(copy);
  const index = session.events.indexOf(event);
  if (index >= 0) session.events[index] = copy;
}
