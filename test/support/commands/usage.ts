/** Tests wrong usage of commands by table. */
import type { Test } from 'tap';
import { assertUsageError, run } from './command.ts';

/** The arguments, the expected message, and environment variables. */
export type UsageRow = [args: string[], message: RegExp, env?: Record<string, string>];

/** Tests that each row ends with its message and exit code 2, without a stack trace or a secret. */
export function testUsage(t: Test, name: string, rows: readonly UsageRow[], cwd: string): void {
  void t.test(`wrong usage: ${name}`, async (t) => {
    for (const [args, message, env = {}] of rows) {
      await t.test(args.join(' ').replaceAll(cwd, '…'), async (t) => {
        const ran = await run(args, { env, cwd });
        assertUsageError(t, ran, message);
        t.notMatch(
          ran.stderr,
          /\bat .*\.[tj]s|secret|(?<!received )undefined|\[object/,
          'no stack trace and no secret',
        );
      });
    }
  });
}
