/** The response with the bytes of a file: whole, or a range of them. */
import { browserType } from '../../values/model/values/media_type.js';
import type { ArtifactVersion } from '../../values/model/artifact.js';
import { COMMON_HEADERS, hasTag } from './responses.js';

/** A user may have written the file: no browser shows it as a page of the server, or runs it. */
export const FILE_HEADERS: Readonly<Record<string, string>> = {
  'content-disposition': 'attachment',
  'content-security-policy': 'sandbox',
};

/**
 * @param open opens the file, or a range of it
 * @param stream returns the bytes of a range as the client takes them. Absent: `open` returns a Blob that is not in memory
 * @returns `undefined` if the file is gone
 */
export async function fileResponse(
  request: Request,
  version: ArtifactVersion,
  open: (range: { start?: number; end?: number }) => Promise<Blob | undefined>,
  stream?: (range: { start: number; end: number }) => ReadableStream<Uint8Array>,
): Promise<Response | undefined> {
  const etag = etagOf(version);
  const headers = {
    ...COMMON_HEADERS,
    ...FILE_HEADERS,
    'content-type': browserType(version.mimeType),
    ...etag,
  };
  const condition = request.headers.get('if-none-match');
  if (etag.etag !== undefined && hasTag(condition, etag.etag)) {
    return new Response(null, { status: 304, headers });
  }
  // A service of the user may not tell the size.
  const whole = version.size === undefined ? await open({}) : undefined;
  const size = version.size ?? whole?.size ?? 0;
  // RFC 9110 defines ranges for GET alone.
  const isOfRange =
    request.method === 'GET' && (request.headers.get('if-range') ?? etag.etag) === etag.etag;
  const range = isOfRange ? rangeIn(request.headers.get('range'), size) : undefined;
  const { start = 0, end = size } = range ?? {};
  if (start >= end && range !== undefined) {
    const refused = { ...headers, 'content-range': `bytes */${size}` };
    return new Response(null, { status: 416, headers: refused });
  }
  const body =
    whole?.slice(start, end) ??
    stream?.({ start, end }) ??
    (await open(range === undefined ? {} : { start, end }));
  if (body === undefined) return undefined;
  const length = body instanceof Blob ? body.size : end - start;
  const shown = {
    ...headers,
    'accept-ranges': 'bytes',
    'content-length': String(length),
    ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
  };
  return new Response(body, { status: range === undefined ? 200 : 206, headers: shown });
}

/** Some services tell neither, and give the number of a deleted file again. */
function etagOf({ version, hash, createTime }: ArtifactVersion): { etag?: string } {
  const tag = hash ?? (createTime === undefined ? undefined : `${version}-${createTime}`);
  return tag === undefined ? {} : { etag: `"${tag}"` };
}

/**
 * Returns the tag of a version as a part of the ADK, before its bytes are loaded. Such a response shows more than bytes, so
 * the hash alone would not do. `undefined`: the service does not tell enough.
 */
export function partTagOf(version: ArtifactVersion, casing: 'own' | 'python'): string | undefined {
  const { version: number, createTime, hash = '' } = version;
  return createTime === undefined ? undefined : `"${number}-${createTime}-${hash}-${casing}"`;
}

/** Reads the header `Range`. Another unit, several ranges and any of an empty file count as absent, as RFC 9110 allows. */
function rangeIn(header: string | null, size: number): { start: number; end: number } | undefined {
  if (size === 0) return undefined;
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === '') {
    return last === '' ? undefined : { start: Math.max(0, size - Number(last)), end: size };
  }
  const end = last === '' ? size : Math.min(size, Number(last) + 1);
  return last !== '' && Number(last) < Number(first) ? undefined : { start: Number(first), end };
}
