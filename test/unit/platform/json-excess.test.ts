/** The limits of a JSON text count its arrays and objects, but not the brackets in its strings. */
import t from 'tap';
import { findJsonExcess } from '../../../src/platform/json.ts';

const accepted = {
  'as deep as allowed': '[[1]]',
  'brackets in a string': '["[[[[", "{{{{"]',
  'an escaped quote before brackets': String.raw`["\"[[[["]`,
  'an escaped backslash at the end of a string': String.raw`["\\", "[[[["]`,
  'a string without an end': '["[[[[',
  'a key with brackets': '{"[[[[":{}}',
};

const rejected = {
  'nested arrays': '[[[1]]]',
  'nested objects': '{"a":{"b":{"c":1}}}',
  'arrays after an escaped quote': String.raw`["\"", [[1]]]`,
  'arrays after an escaped backslash': String.raw`["\\", [[1]]]`,
  'arrays after several escapes': String.raw`["\\\"\\", [[1]]]`,
  'arrays after a string with brackets': '["]]]]", [[1]]]',
};

for (const [name, json] of Object.entries(accepted)) {
  t.equal(findJsonExcess(json, 2), undefined, name);
}
for (const [name, json] of Object.entries(rejected)) {
  t.equal(findJsonExcess(json, 2), 'is nested more than 2 levels deep', name);
}
