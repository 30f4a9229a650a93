/**
 * Reads that depend on each other, as generators. A plan yields a request, gets the answer, and returns the result. It
 * reads nothing itself: the same rules serve memory, which answers at once, and the stores that are awaited.
 */
import type { EventCount } from '../../../values/model/values/read_options.js';
import type { ReadKind, ReadPlan, ReadResults, SessionRead } from '../../read.js';

/** A plan of requests, and what it returns in the end. */
export type Plan<Request, Answer, Result> = Generator<Request, Result, Answer>;

/** Asks for one read. */
export function* find<Kind extends ReadKind>(
  request: SessionRead<Kind>,
): ReadPlan<ReadResults[Kind] | undefined> {
  return (yield request) as ReadResults[Kind] | undefined;
}

/** Runs a plan over answers that are awaited. A failed read fails inside the plan. */
export async function runPlan<Request, Answer, Result>(
  plan: Plan<Request, Answer, Result>,
  answer: (request: Request) => Promise<Answer>,
): Promise<Result> {
  let step = plan.next();
  while (step.done !== true) {
    const { value } = step;
    step = await answer(value).then(
      (found) => plan.next(found),
      (error: unknown) => plan.throw(error),
    );
  }
  return step.value;
}

/** Runs a plan at once, over answers of memory. A failed read fails inside the plan. */
export function runPlanNow<Request, Answer, Result>(
  plan: Plan<Request, Answer, Result>,
  answer: (request: Request) => Answer,
): Result {
  let step = plan.next();
  while (step.done !== true) {
    let found: Answer;
    try {
      found = answer(step.value);
    } catch (error) {
      step = plan.throw(error);
      continue;
    }
    step = plan.next(found);
  }
  return step.value;
}

/** Above so many events, the next read has all. */
const MOST_COUNTED = 2 ** 20;

/**
 * Returns how many of the last events to read next if `last` were too few to decide a result. All events decide it.
 * Each read has a multiple of the one before, so both the reads and the unused events stay few.
 */
export function nextLast(last: EventCount, factor = 4): EventCount {
  return last === 'all' || last > MOST_COUNTED ? 'all' : last * factor;
}
