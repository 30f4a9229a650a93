/** The program of `npm run demo`. */

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const HELP = `Usage: npm run demo             a conversation with two agents on @google/adk
       npm run demo -- FILE     what a recorded ADK session did to its state
       npm run demo -- --help   this

The conversation is with a scripted model; set GEMINI_API_KEY for a real one.
FILE is a session as JSON, of any ADK: snake_case or camelCase, seconds or milliseconds.`;

async function main(): Promise<void> {
  const help = { type: 'boolean', short: 'h' } as const;
  const { values, positionals } = parseArgs({ options: { help }, allowPositionals: true });
  const [file, ...others] = positionals;
  if (others.length > 0) throw new Error('one file at a time, please');
  if (values.help) console.log(HELP);
  // Loaded only if needed: loading the framework takes most of a second, and a replay does not use it.
  else if (file === undefined) await (await import('./conversation.js')).converse();
  // npm runs the script in the package's folder, whatever the folder it was called from.
  else await (await import('./replay.js')).replay(resolve(process.env.INIT_CWD ?? '.', file));
}

// `npm run demo | head` closes the pipe early.
process.stdout.on('error', () => process.exit(0));

try {
  await main();
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
