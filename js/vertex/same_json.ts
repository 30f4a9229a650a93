/** Whether two JSON values are the same, in whatever order their keys are: the server keeps none. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return sorted(one) === sorted(other);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    const entries = Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries);
  });
}
