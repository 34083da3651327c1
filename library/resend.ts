import type { ResendOptions } from '../conformance/index.ts';
import { resendOptions } from '../conformance/options.ts';
import type { ResendReport } from '../src/contract/index.ts';
import { normalizeBaseUrl } from '../src/options/run.ts';
import { optionsSchema, spellInCode } from '../src/options/table.ts';
import { validateOptions } from '../src/platform/options.ts';
import { rejectExposure } from './exposure.ts';
import { findRequest, findTarget, readResendInput, runResend } from './run-resend.ts';

const schema = optionsSchema(resendOptions);

/**
 * Sends a request of an earlier run again, with the requests that its failure depends on, and judges
 * the response. Returns the report that `sandbox-kit resend --json` writes.
 *
 *     const report = await check({ url });
 *     const [failure] = report.requirements.filter(({ verdict }) => verdict === 'fail');
 *     const again = await resend({ report, exchange: failure.evidence[0].exchange });
 *
 * @throws {TypeError} if an option is unknown or invalid, the report does not contain the exchange, or a
 *   key is missing. No request is sent then.
 * @throws {SandboxKitError} `unreadable_file` or `invalid_file` about the report.
 */
export async function resend(options: ResendOptions): Promise<ResendReport> {
  validateOptions('resend', schema, options);
  const conformance = await import('../conformance/index.ts');
  const { report, url, headers } = options;
  try {
    const input =
      typeof report === 'string' ? readResendInput(report, spellInCode, conformance) : { report };
    const source = findRequest(input, options, spellInCode, conformance);
    const normalized = url === undefined ? undefined : normalizeBaseUrl(url);
    const { target, hasSecret } = findTarget(
      source,
      { ...options, url: normalized },
      spellInCode,
      conformance,
    );
    const apiKey = hasSecret ? options.apiKey : undefined;
    rejectExposure('resend', { ...options, url: target, apiKey, headers });
    return await runResend(source, target, options, spellInCode);
  } catch (error) {
    if (!(error instanceof conformance.ResendError)) throw error;
    throw new TypeError(`resend: ${error.message}`, { cause: error });
  }
}
