from ldhd.cli import main

main()
