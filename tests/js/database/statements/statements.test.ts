// The SQL of all statements of the verbs, one file for each engine. A statement over several rows stands there for two.
//
// With UPDATE=1 in the environment this test writes the files. Read their diff before you commit it.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';
import type { CompiledQuery } from 'kysely';

import { ENGINES } from '../../../../js/database/engines/engines.js';
import { DATABASE_LAYOUT } from '../../../../js/database/tables/layout.js';
import { queryBuilder } from '../../../../js/database/tables/tables.js';
import { Prepared } from '../../../../js/database/transactions/prepared.js';
import { currentRowsStatements } from '../../../../js/database/verbs/current_rows_statements.js';
import { deleteStatements } from '../../../../js/database/verbs/delete.js';
import { describeStatements } from '../../../../js/database/verbs/describe.js';
import { listStatements } from '../../../../js/database/verbs/list.js';
import { readStatements } from '../../../../js/database/verbs/read.js';
import { sessionStatements } from '../../../../js/database/verbs/session_statements.js';
import { termStatements } from '../../../../js/database/verbs/terms.js';
import { statementsOver } from '../../../../js/database/verbs/verb_context.js';
import { writeStatements } from '../../../../js/database/verbs/write_statements.js';

const MAKERS = {
  session: sessionStatements,
  currentRows: currentRowsStatements,
  write: writeStatements,
  read: readStatements,
  list: listStatements,
  describe: describeStatements,
  terms: termStatements,
  delete: deleteStatements,
};

/** The arguments of the functions that make a statement, by their names. */
const ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  current: [[], ['app', 'user']],
  times: [[2, 'desc', true, true]],
};

/** These functions make no statement. */
const OTHERS = ['rowOf'];

function* statementsIn(name: string, value: unknown): Generator<[name: string, sql: string]> {
  if (value instanceof Prepared) {
    yield [name, readable(value.query)];
  } else if (typeof value === 'function') {
    const last = name.slice(name.lastIndexOf('.') + 1);
    if (OTHERS.includes(last)) return;
    for (const given of ARGUMENTS[last] ?? [2]) {
      const make = value as (given: unknown) => unknown;
      yield* statementsIn(`${name}(${JSON.stringify(given)})`, make(given));
    }
  } else {
    for (const [member, part] of Object.entries(Object(value) as object)) {
      yield* statementsIn(`${name}.${member}`, part);
    }
  }
}

/** Names the values, and begins a line at each clause. */
function readable({ sql, parameters }: CompiledQuery): string {
  let at = 0;
  const named = sql.replace(/\$\d+|\?/g, (mark) => {
    const parameter = parameters[mark === '?' ? at++ : Number(mark.slice(1)) - 1];
    const { name } = Object(parameter) as { name?: unknown };
    return typeof name === 'string' ? `:${name}` : JSON.stringify(parameter);
  });
  return named
    .replace(/\s+/g, ' ')
    .replace(/ (?=(?:from|where|left join|inner join|order by|limit|set|values) )/g, '\n  ');
}

for (const engine of Object.values(ENGINES)) {
  it(`the statements over ${engine.name} are those of ${engine.kind}.sql`, () => {
    const statements = statementsOver(queryBuilder(engine), engine, DATABASE_LAYOUT);
    const text = Object.entries(MAKERS)
      .flatMap(([name, make]) => [...statementsIn(name, statements<unknown>(make))])
      .map(([name, sql]) => `-- ${name}\n${sql};\n`)
      .join('\n');
    const file = new URL(`./${engine.kind}.sql`, import.meta.url);
    if (process.env.UPDATE === '1') writeFileSync(file, text);
    assert.equal(text, readFileSync(file, 'utf8'));
  });
}
