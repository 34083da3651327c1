import { z } from 'zod';
import type { KnownFailure } from '../../../conformance/index.ts';
import { readTextFile } from './files.ts';
import { suggestion } from '../../platform/suggest.ts';
import { UsageError } from '../flags/usage-error.ts';

const EXPECTED = 'expected {"accepted":[{"id":"CHAT-024","comment":"why"}]} and no more';

const baselineFile = z.strictObject({
  accepted: z.array(
    z.strictObject({
      id: z.string(),
      comment: z.string().trim().min(1, 'expected a comment that says why, got ""'),
    }),
  ),
});

/**
 * Reads the accepted failures from the file that `--baseline` names.
 *
 * @throws {UsageError} where it is no baseline, or names what is none of `ids` or is twice there.
 */
export function readBaseline(path: string, ids: readonly string[]): KnownFailure[] {
  const wrong = (why: string): UsageError => new UsageError(`--baseline: ${path}: ${why}`);
  const json = jsonOf(readTextFile(path, '--baseline'));
  if (json === undefined) throw wrong('it is not JSON');
  const parsed = baselineFile.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const at = issue?.path.length ? `at /${issue.path.join('/')} ` : '';
    const why = issue?.code === 'too_small' ? issue.message : EXPECTED;
    throw wrong(`${at}${why}`);
  }
  const { accepted } = parsed.data;
  for (const [index, { id }] of accepted.entries()) {
    const said = JSON.stringify(id);
    if (!ids.includes(id)) {
      const otherwise = 'sandbox-kit explain lists all';
      throw wrong(`${said} is no requirement of this run: ${suggestion(id, ids, otherwise)}`);
    }
    if (accepted.findIndex((one) => one.id === id) !== index) {
      throw wrong(`${said} is there twice: expected one comment for it`);
    }
  }
  return accepted;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
