import type * as conformanceModule from '../../conformance/index.ts';
import { UsageError } from '../errors.ts';

/**
 * Returns what `--only`, `--skip`, and `--requirements` select.
 *
 * @throws {UsageError} if a requirement or a set is unknown, or nothing is left to judge.
 */
export function selectOrReject<Selected>(
  select: () => Selected,
  { SelectionError }: typeof conformanceModule,
): Selected {
  try {
    return select();
  } catch (error) {
    if (error instanceof SelectionError) throw new UsageError(error.message);
    throw error;
  }
}
