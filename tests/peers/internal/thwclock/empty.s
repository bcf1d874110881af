// This file allows functions without bodies, which are linked to others.
