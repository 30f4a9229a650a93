/** The rules of files that every home follows: the numbers of versions, and the parts of the ADK. */
import type { FileVersion, KnownVersion, NewFile } from './artifact_home.js';
import { base64, blobType, bytesOf } from './file_bytes.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireObject, requireText } from '../../values/errors/option_values.js';
import { BINARY, requireType } from '../../values/model/values/media_type.js';
import type { ArtifactVersion } from '../../values/model/artifact.js';
import type { Part } from '../../values/model/event/content.js';
import { isPlainObject } from '../../values/json/rules.js';
import { stateText } from '../../values/state/delta.js';

/**
 * Decides on a put. A home that stores versions itself calls it within the step that stores the version.
 *
 * @param known all versions of the file
 * @returns the number of the new version, or the version that an earlier put has stored
 */
export function decidePut<V extends KnownVersion>(
  known: readonly V[],
  { facts: { id }, version }: Pick<NewFile, 'facts' | 'version'>,
): { readonly version: number; readonly stored: V | undefined } {
  // A version with a given number takes the place of a tombstone.
  const shown = known.filter(({ isDeleted }) => isDeleted !== true);
  const stored = shown.find((one) =>
    version === undefined ? id !== undefined && one.facts.id === id : one.version === version,
  );
  const next = known.reduce((highest, one) => Math.max(highest, one.version + 1), 0);
  return { version: stored?.version ?? version ?? next, stored };
}

/**
 * Takes what is said of the file of a put, with its type: the given one, or that of the Blob.
 *
 * @throws SessionError `invalid_argument`, `unserializable`
 */
export function takePut(
  given: NewFile['facts'],
  data: NewFile['data'],
): Pick<NewFile, 'facts' | 'emptyMimeType'> {
  const { mimeType = blobType(data) ?? BINARY } = given;
  requireType('mimeType', mimeType);
  // An empty file of the type BINARY is the mark that google-adk stores at a rewind, to say that there is no file any more.
  const emptyMimeType = mimeType === BINARY ? 'text/plain' : mimeType;
  return { facts: takeFacts({ ...given, mimeType }), emptyMimeType };
}

/**
 * Takes what is said of a file. The type may be any text: another program may have stored the file.
 *
 * @throws SessionError `invalid_argument`, `unserializable`
 */
export function takeFacts(given: NewFile['facts']): NewFile['facts'] {
  const { mimeType, displayName, customMetadata, author, id } = given;
  for (const [name, text] of Object.entries({ mimeType, displayName, author, id })) {
    if (text !== undefined) requireText(name, text);
  }
  const facts = { ...(mimeType !== undefined && { mimeType }), displayName, author, id };
  if (customMetadata === undefined) return facts;
  if (!isPlainObject(customMetadata)) throw invalid('customMetadata', 'must be a plain object');
  const text = stateText(customMetadata, ['customMetadata']);
  return { ...facts, customMetadata: JSON.parse(text ?? '{}') as Record<string, unknown> };
}

/** Returns a version as callers see it. */
export function toArtifactVersion(stored: FileVersion): ArtifactVersion {
  const { version, facts, size, createTime, hash } = stored;
  const { mimeType = 'text/plain', displayName, customMetadata, author } = facts;
  return {
    version,
    mimeType,
    ...(customMetadata !== undefined && { customMetadata }),
    ...(displayName !== undefined && { displayName }),
    // A service of the user may not tell them.
    ...(Number.isFinite(size) && { size }),
    ...(Number.isFinite(createTime) && { createTime }),
    ...(author !== undefined && { author }),
    ...(hash !== undefined && { hash }),
  };
}

/** Returns what a file is stored with, once its size is known. */
export function factsOfSize(
  { facts, emptyMimeType = facts.mimeType }: Pick<NewFile, 'facts' | 'emptyMimeType'>,
  size: number,
): NewFile['facts'] {
  return size === 0 && emptyMimeType !== undefined ? { ...facts, mimeType: emptyMimeType } : facts;
}

/** Whether google-adk has stored the version at a rewind, to say that there is no file any more. */
export function isRewoundAway(mimeType: string | undefined, size: number): boolean {
  return mimeType === BINARY && size === 0;
}

/** The file that a part of the ADK is. */
interface FileOfPart extends Pick<NewFile, 'facts'> {
  readonly data: Blob;
}

/**
 * Takes a part to store.
 *
 * @throws SessionError `invalid_argument` if it has neither bytes nor a text, or a type that no file may be stored with
 */
export function takePart(artifact: Part): FileOfPart {
  const file = fileOfPart(artifact);
  const { mimeType } = file.facts;
  if (mimeType !== undefined) requireType('artifact.inlineData.mimeType', mimeType);
  return file;
}

/**
 * Returns the bytes of a part, and what else it says of its file.
 *
 * @throws SessionError `invalid_argument` if it has neither bytes nor a text
 */
export function fileOfPart(artifact: Part): FileOfPart {
  requireObject('artifact', artifact);
  const { inlineData, text, fileData } = artifact;
  if (inlineData?.data !== undefined) {
    const { mimeType = BINARY, displayName, data } = inlineData;
    requireText('artifact.inlineData.mimeType', mimeType);
    if (displayName !== undefined) requireText('artifact.inlineData.displayName', displayName);
    return { data: new Blob([bytesOf(data)]), facts: { mimeType, displayName } };
  }
  if (typeof text === 'string') return { data: new Blob([text]), facts: {} };
  const reason = fileData === undefined ? '' : '; a reference to a file elsewhere is not stored';
  throw invalid('artifact', `must have inlineData with data, or a text${reason}`);
}

/** Returns a file as a part of the ADK. */
export async function partOf({ facts }: Pick<FileVersion, 'facts'>, blob: Blob): Promise<Part> {
  const { displayName } = facts;
  // Only a service of the user gives a type that it has not told before.
  const mimeType = facts.mimeType ?? blob.type;
  if (mimeType === '') return { text: await blob.text() };
  const data = base64(new Uint8Array(await blob.arrayBuffer()));
  return { inlineData: { mimeType, data, ...(displayName !== undefined && { displayName }) } };
}
