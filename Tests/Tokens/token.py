#!/usr/bin/env python3
"""What `softhsm2-util` cannot do to a token of SoftHSM.

usage: token.py MODULE LABEL PIN count          prints how many private objects there are
       token.py MODULE LABEL PIN clear          deletes every object
       token.py MODULE LABEL PIN set-pin NEW    changes the PIN
       token.py MODULE LABEL PIN read           prints the value of every data object, in hexadecimal
"""

import ctypes
import sys

ULONG = ctypes.c_ulong
RW_SESSION = 6
USER = 1
CKA_CLASS, CKA_TOKEN, CKA_VALUE = 0, 1, 0x11
CKO_DATA = 0


class TokenInfo(ctypes.Structure):
    """The beginning of CK_TOKEN_INFO, and room for the rest."""

    _fields_ = [("label", ctypes.c_char * 32), ("rest", ctypes.c_byte * 256)]


class Attribute(ctypes.Structure):
    """CK_ATTRIBUTE."""

    _fields_ = [("type", ULONG), ("value", ctypes.c_void_p), ("length", ULONG)]


def check(value):
    """Ends the program where a call failed."""
    if value:
        sys.exit(f"the module says {value:#x}")


def slot_of(module, label):
    """The slot of the token with a label."""
    count = ULONG(0)
    check(module.C_GetSlotList(1, None, ctypes.byref(count)))
    slots = (ULONG * count.value)()
    check(module.C_GetSlotList(1, slots, ctypes.byref(count)))
    for slot in slots:
        info = TokenInfo()
        check(module.C_GetTokenInfo(ULONG(slot), ctypes.byref(info)))
        if info.label.decode().rstrip() == label:
            return slot
    sys.exit(f"no token {label}")


def objects(module, session, data_only):
    """The handles of the token's objects."""
    yes = ctypes.c_byte(1)
    kind = ULONG(CKO_DATA)
    template = (Attribute * 2)(
        Attribute(CKA_TOKEN, ctypes.cast(ctypes.byref(yes), ctypes.c_void_p), 1),
        Attribute(CKA_CLASS, ctypes.cast(ctypes.byref(kind), ctypes.c_void_p), 8),
    )
    check(module.C_FindObjectsInit(session, template, ULONG(2 if data_only else 1)))
    found = (ULONG * 64)()
    count = ULONG(0)
    check(module.C_FindObjects(session, found, ULONG(64), ctypes.byref(count)))
    check(module.C_FindObjectsFinal(session))
    return list(found[: count.value])


def value_of(module, session, handle):
    """The value of a data object."""
    room = ctypes.create_string_buffer(256)
    attribute = Attribute(CKA_VALUE, ctypes.cast(room, ctypes.c_void_p), 256)
    check(module.C_GetAttributeValue(session, ULONG(handle), ctypes.byref(attribute), ULONG(1)))
    return room.raw[: attribute.length]


def main():
    """Logs in and does what the arguments say."""
    path, label, pin, verb = sys.argv[1:5]
    module = ctypes.CDLL(path)
    check(module.C_Initialize(None))
    session = ULONG(0)
    slot = slot_of(module, label)
    check(module.C_OpenSession(ULONG(slot), ULONG(RW_SESSION), None, None, ctypes.byref(session)))
    check(module.C_Login(session, ULONG(USER), pin.encode(), ULONG(len(pin))))
    if verb == "set-pin":
        new = sys.argv[5]
        check(
            module.C_SetPIN(session, pin.encode(), ULONG(len(pin)), new.encode(), ULONG(len(new)))
        )
    elif verb == "clear":
        for handle in objects(module, session, False):
            check(module.C_DestroyObject(session, ULONG(handle)))
    elif verb == "read":
        for handle in objects(module, session, True):
            print(value_of(module, session, handle).hex())
    else:
        print(len(objects(module, session, False)))


if __name__ == "__main__":
    main()
