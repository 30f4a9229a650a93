/** Waits for both, also where one fails: what goes on behind a caller's back would outlive its call and its turn. */
export async function both<One, Other>(
  one: Promise<One>,
  other: Promise<Other>,
): Promise<[One, Other]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}
