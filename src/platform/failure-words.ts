/**
 * The words of a connection that failed, without what its library says of its own options: who runs
 * the kit has `--ca`.
 */
export const describeFailure = (message: string): string =>
  message.replace(/[;,]? *(?:if [^;]*, )?try running Node\.js with --use-system-ca\.?/i, '');
