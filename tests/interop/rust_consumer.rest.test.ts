import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { newFolder } from '../new_folder.js';

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

/** Runs a program outside the package. */
function cargoRun(folder: string) {
  // The same versions as the package's own tests, which are on this machine already; cargo takes
  // out what is not needed.
  copyFileSync(join(root, 'Cargo.lock'), join(folder, 'Cargo.lock'));
  return spawnSync('cargo', ['run', '--quiet'], {
    cwd: folder,
    env: { ...process.env, CARGO_TARGET_DIR: join(root, 'target', 'interop', 'rust_consumer') },
    encoding: 'utf8',
  });
}

const TWO_CRATES = `
use adk_session::Session;
use session_core::{CreateRequest, Event, InMemorySessionService, SessionService};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), session_core::Error> {
    let service = InMemorySessionService::new();
    let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    let session = service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
    service.append_event_to(session.key(), Event::new("i")).await?;
    println!("{} and {}", Session::CRATE, session.user_id());
    Ok(())
}
`;

describe('A Rust crate outside the package', () => {
  it('uses it as adk_session under tokio and anyhow', { timeout: 600_000 }, () => {
    const { status, stdout, stderr, error } = cargoRun(consumer);
    assert.equal(error, undefined);
    assert.equal(status, 0, stderr);
    assert.equal(stdout, expected.trimStart().replaceAll('§', '`'));
    assert.doesNotMatch(stderr, /warning/);
  });

  it(
    'has it beside the crate adk-session with the renaming of docs/from_adk_rust.md, and not without',
    { timeout: 600_000 },
    () => {
      const page = readFileSync(join(root, 'docs', 'from_adk_rust.md'), 'utf8');
      const [, documented = ''] = /^```toml\n(.*?)^```$/ms.exec(page) ?? [];
      const folder = newFolder();
      const write = (file: string, text: string) => {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), text);
      };
      // A crate with the names of the one on crates.io, which has some sixty dependencies.
      write('theirs/Cargo.toml', '[package]\nname = "adk-session"\nversion = "2.3.0"\n[lib]\nname = "adk_session"\n'); // prettier-ignore
      write('theirs/src/lib.rs', 'pub struct Session;\nimpl Session { pub const CRATE: &str = "theirs"; }\n'); // prettier-ignore
      write('src/main.rs', TWO_CRATES);
      const build = (dependencies: string) => {
        const sources = dependencies
          .replace('adk-session = "2.3"', 'adk-session = { path = "theirs" }')
          .replace('../adk-session-wasm', root);
        const own = 'tokio = { version = "1", features = ["macros", "rt"] }\n[workspace]\n';
        write('Cargo.toml', `[package]\nname = "both"\nversion = "0.0.0"\nedition = "2024"\n${sources}${own}`); // prettier-ignore
        return cargoRun(folder);
      };
      const { stdout, stderr } = build(documented);
      assert.equal(stdout, 'theirs and ada\n', stderr);
      const unnamed = documented.replace(/^.* = \{ package = "adk-session-core", /m, 'adk-session-core = { '); // prettier-ignore
      assert.match(build(unnamed).stderr, /E0464/);
    },
  );
});
