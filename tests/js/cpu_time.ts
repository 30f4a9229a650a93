/** The processor's time that a call takes, in milliseconds: other processes of a busy machine add nothing to it. */
export function cpuTime(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
