/** Waits for both promises, even if one of them fails. Work left running would outlive the call and its turn. */
export async function settleBoth<First, Second>(
  first: Promise<First>,
  second: Promise<Second>,
): Promise<[First, Second]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}
