import { serviceApiKeyHeader } from '../../contract/index.ts';
import type { CommandModule } from 'yargs';
import { z } from 'zod';
import { randomSeed } from '../../platform/random.ts';
import { writeTextFile } from '../input/files.ts';
import * as flags from '../flags/flags.ts';
import { kitVersion } from '../kit-version.ts';
import { openOutputs } from '../output/outputs.ts';
import { exitCodes } from '../flags/usage-error.ts';
import { voiceFlags } from '../flags/voice-flags.ts';

const doctorFlags = z.object({
  url: flags.sandboxUrl,
  area: flags.checkedAreas.optional(),
  json: flags.filePath.optional(),
  'api-key-file': flags.filePath.optional(),
  'api-key-header': flags.headerName,
  ca: flags.filePath.optional(),
  'voice-url': voiceFlags['voice-url'],
  'timeout-ms': flags.wholeNumber(100, 600_000),
});

type DoctorFlags = z.infer<typeof doctorFlags>;

/** The check that may follow, with what it needs to get there. */
function checkCommand(given: DoctorFlags): string {
  const header = given['api-key-header'];
  const options = [
    ['--area', given.area?.join(',')],
    ['--ca', given.ca],
    ['--voice-url', given['voice-url']],
    ['--api-key-file', given['api-key-file']],
    ['--api-key-header', header === serviceApiKeyHeader ? undefined : header],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  return ['sandbox-kit check', given.url, ...options].join(' ');
}

/** `sandbox-kit doctor URL`: the preflight alone. */
export const doctorVerb: CommandModule = {
  command: 'doctor <url>',
  describe: 'See whether a sandbox or service can be reached and checked',
  builder: (yargs) =>
    yargs
      .usage(
        'sandbox-kit doctor URL\n\nTries the way to a sandbox, or to the service: address, TLS, key, answers.',
      )
      .positional('url', { type: 'string', describe: 'base address of what is tried' })
      .option('area', {
        type: 'string',
        describe: 'only these: chat,health,users,voice; or service',
      })
      .option('json', { type: 'string', describe: 'write what was seen as JSON; - is stdout' })
      .option('api-key-file', { type: 'string', describe: 'file that holds the key' })
      .option('api-key-header', {
        type: 'string',
        default: serviceApiKeyHeader,
        describe: "header of the service's key",
      })
      .option('ca', { type: 'string', describe: 'PEM file of a CA to trust' })
      .option('voice-url', { type: 'string', describe: 'of the WebSocket; else /voice of URL' })
      .option('timeout-ms', { type: 'number', default: 30_000, describe: 'for chat and users' })
      .epilogue(`Examples:
  sandbox-kit doctor https://sandbox.example.com
  sandbox-kit doctor https://localhost:8443 --ca sandbox-kit-ca.pem
  sandbox-kit doctor SERVICE_URL --area service

The bearer key is read from SANDBOX_KIT_API_KEY, the service's from
SANDBOX_KIT_SERVICE_API_KEY, or either with --api-key-file.`),
  handler: async (argv) => {
    const given = flags.parseFlags(doctorFlags, argv);
    const judge = await import('../../../conformance/index.ts');
    const ca = flags.caPem(given.ca);
    const out = openOutputs({ json: given.json });
    const diagnosis = await judge.diagnose({
      target: given.url,
      kitVersion: kitVersion(),
      seed: randomSeed(),
      ...(given.area ? { areas: given.area } : {}),
      ...flags.keysOf(given),
      ca,
      timeoutMs: given['timeout-ms'],
      needsVoice: given['voice-url'] !== undefined || (given.area?.includes('voice') ?? false),
      ...(given['voice-url'] !== undefined && { voice: { url: given['voice-url'] } }),
    });
    out.write(judge.diagnosisText(diagnosis, checkCommand(given), out));
    if (given.json !== undefined) {
      const text = `${JSON.stringify(judge.diagnosisJson(diagnosis, given.url), null, 2)}\n`;
      writeTextFile(given.json, text, '--json');
    }
    process.exitCode = diagnosis.blockedBy ? exitCodes.notJudged : exitCodes.fine;
  },
};
