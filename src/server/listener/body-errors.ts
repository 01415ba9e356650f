import { brokenBody, requestEntityTooLarge } from '../../machinery/status.js';
import type { BodyErrors } from '../../wire/body-errors.js';

/** Bodies that cannot be read are refused in the API's own words. */
export const BODY_ERRORS: BodyErrors = { broken: brokenBody, tooLarge: requestEntityTooLarge };
