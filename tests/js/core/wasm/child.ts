import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { LOADER } from '../../loader.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
/** A file of js/. */
const index = import.meta.resolve('../../../../js/index.js');

/**
 * Runs a program in a new process, without loaded modules, and returns its result.
 *
 * @param program the body of an async function; `load(file)` imports one below js/
 */
export async function inChild<T>(program: string, execArgv: string[] = []): Promise<T> {
  const source = `
    const load = (file) => import(new URL(file, ${JSON.stringify(index)}).href);
    const codeOf = async (call) => {
      try {
        const value = await call();
        return { value: typeof value };
      } catch (error) {
        return { code: error.code, message: error.message, isError: error instanceof Error };
      }
    };
    const key = { appName: 'app', userId: 'user', sessionId: 'session' };
    const result = await (async () => { ${program} })();
    process.stdout.write(JSON.stringify(result), () => process.exit(0));
  `;
  const child = spawn(
    process.execPath,
    [...execArgv, ...LOADER, '--input-type=module', '--eval', source],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (status !== 0 || out === '') throw new Error(`the child ended with ${status}\n${err}`);
  return JSON.parse(out) as T;
}

export interface Outcome {
  value?: string;
  code?: string;
  message?: string;
  isError?: boolean;
}
