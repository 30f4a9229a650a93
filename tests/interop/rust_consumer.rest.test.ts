import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const consumer = join(root, 'tests', 'interop', 'rust_consumer');

/** The output of `src/main.rs`, with the outcome of each of its calls. */
const expected = String.raw`
created with an id of 36 characters: {"app:currency":"KRW","cart":["tea"],"user:name":"Ada"}
topic Some(String("milk")), no None
events: (3, 1, 2)
Ada: milk, ["tea"]
listed: 1
left after the deletion: 0
ambiguous: 2 sessions have the id "latest"; name the app and the user as well
not_found: session "gone" does not exist (any more); create it, or get it again
already_exists: session "latest" of user "ada" in app "shop" already exists; choose another id, or get or create it
invalid_argument: user_id must not be empty
not_found: session "gone" does not exist (any more); create it, or get it again
the instruction has placeholders without a value: §{user:nmae}§ at 0 (the state has §user:name§). Store them before the agent runs, or write §{user:nmae?}§ where a value may be missing, or §\{user:nmae}§ to print the braces
read at once: "rivers"
guide said: {"role":"model","parts":[{"text":"Step 1: rivers."}]}
stored: {"answer":"Step 1: rivers.","app:currency":"KRW","topic":"rivers"}
states and errors cross threads
`;

describe('A Rust crate outside the package', () => {
  it('uses it as adk_session under tokio and anyhow', { timeout: 600_000 }, () => {
    // The same versions as the package's own tests, which are on this machine already; cargo takes
    // out what is not needed.
    copyFileSync(join(root, 'Cargo.lock'), join(consumer, 'Cargo.lock'));
    const { status, stdout, stderr, error } = spawnSync('cargo', ['run', '--quiet'], {
      cwd: consumer,
      env: { ...process.env, CARGO_TARGET_DIR: join(root, 'target', 'interop', 'rust_consumer') },
      encoding: 'utf8',
    });
    assert.equal(error, undefined);
    assert.equal(status, 0, stderr);
    assert.equal(stdout, expected.trimStart().replaceAll('§', '`'));
    assert.doesNotMatch(stderr, /warning/);
  });
});
