// Follows a guide, which is a section of a page of docs/, in an empty folder: writes its files and runs its commands, in
// the order of the text.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { environmentWithout, install, NAME, OF_NPM, root } from '../installed.js';

/** A part of a guide that the reader does something with. */
type Step =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'command'; readonly command: string }
  /** The output that the commands since the last file have, as the text says. */
  | { readonly kind: 'output'; readonly text: string };

/** A section of a page: the page's file, and the section's heading. */
export interface Guide {
  readonly page: string;
  readonly section: string;
}

/** A file is named in the line above its block; a command is a line of a block of `sh`. */
export function stepsOf({ page, section }: Guide): Step[] {
  const whole = readFileSync(join(root, 'docs', page), 'utf8');
  const [, after] = whole.split(`\n## ${section}\n`);
  assert.ok(after !== undefined, `${page} has no section "${section}"`);
  const markdown = after.split(/\n### |\n## /)[0]!;
  return [...markdown.matchAll(/(?:^([^\n]*)\n\n)?^```(\w+)\n(.*?)^```$/gms)].flatMap(
    ([, lead = '', language, text = '']): Step[] => {
      if (language === 'sh') {
        return text
          .split('\n')
          .filter((line) => line !== '')
          .map((command) => ({ kind: 'command', command }));
      }
      const name = /^`([\w./-]+)`:$/.exec(lead)?.[1];
      if (name !== undefined) return [{ kind: 'file', name, text }];
      assert.equal(
        language,
        'text',
        `${page}, ${section}: a block of ${language} has no name:\n${text}`,
      );
      return lead === 'It prints:' ? [{ kind: 'output', text }] : [];
    },
  );
}

/** The options of {@link follow}. */
export interface Following {
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Carries out a command itself. Returns `false` to let it run as it is. */
  readonly instead?: (command: string, folder: string, env: NodeJS.ProcessEnv) => unknown;
  /** Folders whose node_modules have packages, besides the repository's. */
  readonly packages?: readonly string[];
}

/** Follows the guide, and returns its folder, which is deleted when the process ends. */
export async function follow(guide: Guide, options: Following = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'guide-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const env = { ...environmentWithout(OF_NPM), NO_COLOR: '1', ...options.env };
  const linked = new Map<string, string>();
  let output = '';
  for (const step of stepsOf(guide)) {
    if (step.kind === 'file') {
      const path = join(folder, step.name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, step.text);
      output = '';
    } else if (step.kind === 'output') {
      assert.equal(output, step.text);
    } else if (step.command.startsWith('npm install')) {
      installAll(step.command, {
        folder,
        linked,
        env,
        sources: [root, ...(options.packages ?? [])],
      });
    } else if ((await options.instead?.(step.command, folder, env)) !== true) {
      output += run(step.command, folder, env);
    }
  }
  return folder;
}

function run(command: string, cwd: string, env: NodeJS.ProcessEnv): string {
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', command], {
    cwd,
    env,
    encoding: 'utf8',
    // With a socket as its input, bash takes itself for a remote shell and reads ~/.bashrc, which may change PATH.
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
  });
  assert.equal(status, 0, `${command}\n${stdout}\n${stderr}`);
  return stdout;
}

/**
 * Installs the package from its tarball, and others as npm does. Those that the repository has are linked: they are
 * large, and some are compiled.
 */
function installAll(
  command: string,
  {
    folder,
    linked,
    env,
    sources,
  }: {
    readonly folder: string;
    readonly linked: Map<string, string>;
    readonly env: NodeJS.ProcessEnv;
    readonly sources: readonly string[];
  },
): void {
  const names = command
    .split(' ')
    .slice(2)
    .filter((name) => !name.startsWith('--'));
  for (const name of names) {
    const targets = sources.map((source) => join(source, 'node_modules', name));
    const target = targets.find((target) => existsSync(target));
    if (name !== NAME && target !== undefined) linked.set(name, target);
  }
  const specifiers = names
    .filter((name) => !linked.has(name))
    .map((name) => (name === NAME ? install().archive : name));
  const flags = '--legacy-peer-deps --prefer-offline --no-audit --no-fund --no-package-lock';
  if (specifiers.length > 0) run(`npm install ${flags} ${specifiers.join(' ')}`, folder, env);
  // Again after each run of npm, which removes what its package.json does not name.
  for (const [name, target] of linked) link(name, target, folder);
}

function link(name: string, target: string, folder: string): void {
  const place = join(folder, 'node_modules', name);
  mkdirSync(dirname(place), { recursive: true });
  rmSync(place, { recursive: true, force: true });
  symlinkSync(target, place);
  const { bin = {} } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as {
    bin?: string | Record<string, string>;
  };
  const programs = typeof bin === 'string' ? { [name]: bin } : bin;
  for (const [program, file] of Object.entries(programs)) {
    const path = join(folder, 'node_modules/.bin', program);
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    symlinkSync(join(target, file), path);
  }
}
