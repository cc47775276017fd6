internal import CofferCore

@main
enum Main {
    static func main() { CofferCommand.main() }
}
