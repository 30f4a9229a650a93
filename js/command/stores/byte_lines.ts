import type { FileHandle } from 'node:fs/promises';

/** A line of a file, without its line feed. */
export interface ByteLine {
  /** Offset of its first byte in the file. */
  readonly offset: number;
  readonly bytes: Buffer;
  /** Whether a line feed ends it: the last line's may be missing. */
  readonly isEnded: boolean;
}

const CHUNK = 256 * 1024;
const LINE_FEED = 0x0a;

/** Yields the lines of a file with their byte offsets, which a text stream does not report. */
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
