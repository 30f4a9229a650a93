/** Waits for both promises, even if one of them fails. Work left running would outlive the call and its turn. */
export async function both<One, Other>(
  one: Promise<One>,
  other: Promise<Other>,
): Promise<[One, Other]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}
