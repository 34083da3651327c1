/** The command `resend` with a report in which only calls failed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findViolations, schemas, type CheckReport } from '../../src/contract/index.ts';
import { assertUsageError, run } from '../support/commands/command.ts';
import { createFolder } from '../support/commands/folder.ts';

const FOLDER = createFolder(t);

void t.test('a call after which the sandbox was gone is not called a success', async (t) => {
  const [example] = schemas.CheckReport.examples as unknown as CheckReport[];
  if (!example) throw new Error('CheckReport has no example.');
  const { resendable: _, ...report } = example;
  const call = { exchange: 10, step: 'overlap', request: 'GET /voice', outcome: '101, cut off' };
  const crash = { downMs: 30_000, cameBack: false, suspects: [call], crashedAgain: [] };
  const reportOf = (crashes: CheckReport['crashes']): CheckReport => ({
    ...report,
    ...(crashes && { crashes }),
    requirements: report.requirements.filter(({ verdict }) => verdict === 'pass'),
  });
  const save = (name: string, content: CheckReport): string => {
    t.same(findViolations('CheckReport', content), []);
    const path = join(FOLDER, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };
  const lost = save('lost.json', reportOf([crash]));
  assertUsageError(
    t,
    await run(['resend', lost, '10']),
    /Exchange 10 is a call, which can't be sent again alone\. To place the calls again, run (npx )?sandbox-kit check http:\S+ --area voice\.$/m,
  );
  assertUsageError(
    t,
    await run(['resend', lost, '3']),
    /contains no requests, because all its findings are about calls, .* run (npx )?sandbox-kit check/,
  );
  const request = { ...call, request: 'POST /users' };
  const old = save('old.json', reportOf([{ ...crash, suspects: [request] }]));
  assertUsageError(
    t,
    await run(['resend', old, '10']),
    /contains no requests, because the report is of an earlier version\./,
  );
  const { crashes: __, ...clean } = reportOf(undefined);
  assertUsageError(
    t,
    await run(['resend', save('clean.json', clean), '10']),
    /contains no requests, because the run broke no requirement, or/,
  );
});
