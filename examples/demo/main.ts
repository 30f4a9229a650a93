/** The program of `npm run demo`. */

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const HELP = `Usage: npm run demo             a conversation with two agents on @google/adk
       npm run demo -- FILE     what a recorded ADK session did to its state
       npm run demo -- --help   this

The conversation is with a scripted model; set GEMINI_API_KEY for a real one.
FILE is a session as JSON, of any ADK: snake_case or camelCase, seconds or milliseconds.
NO_COLOR=1 turns colours off.
`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const [file, ...otherArguments] = positionals;
  if (otherArguments.length > 0) throw new Error('one file at a time, please');
  // Loaded only if needed: loading the framework takes most of a second, and a replay does not use it.
  if (file === undefined) return (await import('./conversation.js')).converse();
  // The folder from which npm was called; npm runs the script in the package's folder.
  const folder = process.env.INIT_CWD ?? process.cwd();
  try {
    await (await import('./replay.js')).replay(resolve(folder, file));
  } catch (error) {
    throw new Error(`${file} ${messageOf(error)}`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// `npm run demo | head` closes the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  await main();
} catch (error) {
  console.error(`demo: ${messageOf(error).replaceAll('\n', ' ')}`);
  process.exitCode = 1;
}
