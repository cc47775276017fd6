#!/usr/bin/env python3
"""What `softhsm2-util` cannot do to a token of SoftHSM.

usage: token.py MODULE LABEL PIN count          prints how many private objects there are
       token.py MODULE LABEL PIN clear          deletes every object
       token.py MODULE LABEL PIN set-pin NEW    changes the PIN
       token.py MODULE LABEL PIN read           prints the value of every data object, in hexadecimal
       token.py MODULE LABEL PIN plant HEX      makes a data object that is not private
       token.py MODULE LABEL PIN seen           prints what is found, or can be read, after a logout:
                                                what it is, and its value where that is given
"""

import ctypes
import sys

ULONG = ctypes.c_ulong
RW_SESSION = 6
USER = 1
CKA_CLASS, CKA_TOKEN, CKA_PRIVATE, CKA_VALUE = 0, 1, 2, 0x11
CKO_DATA = 0
KINDS = {CKO_DATA: "data", 2: "public-key", 3: "private-key", 4: "secret-key"}


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


def attribute_of(module, session, handle, kind):
    """An attribute of an object; None where the token does not give it."""
    room = ctypes.create_string_buffer(256)
    attribute = Attribute(kind, ctypes.cast(room, ctypes.c_void_p), 256)
    if module.C_GetAttributeValue(session, ULONG(handle), ctypes.byref(attribute), ULONG(1)):
        return None
    return room.raw[: attribute.length]


def plant(module, session, value):
    """Makes a data object that everybody may read."""
    yes, no, kind = ctypes.c_byte(1), ctypes.c_byte(0), ULONG(CKO_DATA)
    room = ctypes.create_string_buffer(value, len(value))
    parts = [(CKA_CLASS, kind, 8), (CKA_TOKEN, yes, 1), (CKA_PRIVATE, no, 1)]
    parts.append((CKA_VALUE, room, len(value)))
    template = (Attribute * len(parts))(
        *(Attribute(one, ctypes.cast(ctypes.byref(at), ctypes.c_void_p), n) for one, at, n in parts)
    )
    made = ULONG(0)
    check(module.C_CreateObject(session, template, ULONG(len(parts)), ctypes.byref(made)))


def seen(module, session):
    """What is found or can be read without the PIN.

    The handles that were found with it are asked for too.
    """
    known = objects(module, session, False)
    check(module.C_Logout(session))
    found = objects(module, session, False)
    for handle in {*known, *found}:
        value = attribute_of(module, session, handle, CKA_VALUE)
        if handle not in found and value is None:
            continue
        kind = attribute_of(module, session, handle, CKA_CLASS)
        name = KINDS[int.from_bytes(kind, sys.byteorder)] if kind else "unknown"
        yield f"{name} {value.hex()}" if value else name


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
            print(attribute_of(module, session, handle, CKA_VALUE).hex())
    elif verb == "plant":
        plant(module, session, bytes.fromhex(sys.argv[5]))
    elif verb == "seen":
        print("".join(f"{line}\n" for line in sorted(seen(module, session))), end="")
    else:
        print(len(objects(module, session, False)))


if __name__ == "__main__":
    main()
