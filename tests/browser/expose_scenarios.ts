/** Lets a test start these functions by name, and wait for the promise in `globalThis.report`; see tab.ts. */
export function exposeScenarios(scenarios: Record<string, (...values: never[]) => unknown>): void {
  const start = async (name: string, values: string): Promise<unknown> => {
    const scenario = scenarios[name];
    if (scenario === undefined) throw new Error(`this page has no scenario '${name}'`);
    return scenario(...(JSON.parse(values) as never[]));
  };
  Object.assign(globalThis, {
    startScenario(name: string, values: string) {
      const report = start(name, values);
      // Whether it is looked at, and when, is the test's affair.
      report.catch(() => undefined);
      Object.assign(globalThis, { report });
    },
  });
}
