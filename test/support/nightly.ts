/**
 * Which tests run at a push, and which only at night. `.ci/nightly` sets `SANDBOX_KIT_TEST_NIGHTLY`;
 * CONTRIBUTING.md says which kind of defect each of them finds.
 */

/** Whether this is the nightly run, which takes the time that a push does not have. */
export const isNightly = process.env.SANDBOX_KIT_TEST_NIGHTLY === '1';

/**
 * Returns the options of a test that runs only at night. They are new each time, because tap stores
 * the result of a test in its options: with shared ones, it reports the first result for all tests
 * that run at the same time.
 */
export const nightOnly = (): { skip?: string } =>
  isNightly ? {} : { skip: 'runs in .ci/nightly' };

/** Returns the first value at night, such as all views, and the second one at a push. */
export const atNight = <Value>(nightly: Value, push: Value): Value => (isNightly ? nightly : push);
