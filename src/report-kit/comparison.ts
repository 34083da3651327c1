/** A setting of two runs that are compared. */
export type ComparedSetting = readonly [name: string, before: unknown, now: unknown];

/** Names the settings in which two runs differ: a change may come from the settings, not the sandbox. */
export function describeDifferences(settings: readonly ComparedSetting[]): string[] {
  return settings
    .filter(([, before, now]) => before !== now)
    .map(
      ([name, before, now]) => `Different ${name}: ${String(before)} before, ${String(now)} now.`,
    );
}
