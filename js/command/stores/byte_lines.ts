import type { FileHandle } from 'node:fs/promises';

/** A line of a file, without its end. */
export interface ByteLine {
  /** Where it begins, in bytes. */
  readonly offset: number;
  readonly bytes: Buffer;
  /** Whether a line feed ends it: the last one's may be missing. */
  readonly isEnded: boolean;
}

const CHUNK = 256 * 1024;
const LINE_FEED = 0x0a;

/** The lines of a file with the places where they stand, which a stream of text does not tell. */
export async function* byteLines(file: FileHandle): AsyncGenerator<ByteLine, void> {
  let pieces: Buffer[] = [];
  let offset = 0;
  let read = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, read);
    if (bytesRead === 0) break;
    let start = 0;
    const chunk = buffer.subarray(0, bytesRead);
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      pieces.push(chunk.subarray(start, end));
      yield { offset, bytes: Buffer.concat(pieces), isEnded: true };
      pieces = [];
      start = end + 1;
      offset = read + start;
    }
    pieces.push(chunk.subarray(start));
    read += bytesRead;
  }
  const rest = Buffer.concat(pieces);
  if (rest.length > 0) yield { offset, bytes: rest, isEnded: false };
}
