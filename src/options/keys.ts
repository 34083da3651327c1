/** The options of API keys: in a file, or in a variable that the configuration file names. */
import * as z from 'zod';
import { SERVICE_API_KEY_HEADER } from '../contract/index.ts';
import { option, optionWithDefault, secretOption } from './option.ts';
import * as values from './values.ts';

/** The form of a key in words. */
export const KEY = 'one line of printable ASCII without spaces';
export const KEY_PATTERN = /^[\x21-\x7e]+$/;
const key = z.string(KEY).regex(KEY_PATTERN, KEY);

export const apiKeyFile = option(
  values.filePath,
  'FILE',
  'Read the API key from a file instead of the environment',
  { replaces: ['api-key'] },
);

export const apiKey = secretOption(values.text, 'KEY', 'API key', {
  replaces: ['api-key-file'],
  inCode: {
    schema: key,
    about: 'The bearer key of the sandbox, or the key of the service (default: no key).',
  },
});

export const apiKeyHeader = optionWithDefault(
  values.headerName,
  'NAME',
  "Header of the service's API key",
  SERVICE_API_KEY_HEADER,
  { inCode: `Header of the service's key; service only (default: \`${SERVICE_API_KEY_HEADER}\`).` },
);

/** The environment variable with the service's key. */
export const serviceKey = { SANDBOX_KIT_SERVICE_API_KEY: 'API key of the service' };
